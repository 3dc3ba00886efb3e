"""An embedded Kubernetes: store and API here and in `api`, controllers in `controllers`, the node in `node`."""
