"""The demo: a broken shop on the embedded cluster, healed by the operator while one watches."""
