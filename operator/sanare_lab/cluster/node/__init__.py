"""The node: scheduling, images, volumes, containers with their probes, and the network between pods."""

from sanare_lab.cluster.node.images import DEFAULT_IMAGES, Image
from sanare_lab.cluster.node.network import ConnectionRefused, NoRoute, PodResponse
from sanare_lab.cluster.node.node import Node

__all__ = ["DEFAULT_IMAGES", "ConnectionRefused", "Image", "NoRoute", "Node", "PodResponse"]
