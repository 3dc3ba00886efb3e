"""The controllers: one module for each, and what a controller is in `controller`."""

from sanare_lab.cluster.controllers.controllers import Controllers

__all__ = ["Controllers"]
