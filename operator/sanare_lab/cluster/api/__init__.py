"""The HTTP side of the embedded cluster: what kubectl, kopf and the client libraries speak to."""
