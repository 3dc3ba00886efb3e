"""The Node object: what the embedded cluster's node tells about itself."""

from __future__ import annotations

from sanare_lab.cluster.node.network import NODE_IP
from sanare_lab.cluster.objects import Obj

NODE_NAME = "node0"
_CONDITIONS = (
    ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
)


def node_object(now: str, max_pods: int) -> Obj:
    """The Node as it registers itself; `now` is a metav1.Time."""
    capacity = {"cpu": "8", "memory": "24Gi", "ephemeral-storage": "100Gi", "pods": str(max_pods)}
    return {
        "metadata": {
            "name": NODE_NAME,
            "labels": {
                "kubernetes.io/arch": "amd64",
                "kubernetes.io/hostname": NODE_NAME,
                "kubernetes.io/os": "linux",
            },
        },
        "spec": {"podCIDR": "10.244.0.0/16", "podCIDRs": ["10.244.0.0/16"]},
        "status": {
            "addresses": [
                {"type": "InternalIP", "address": NODE_IP},
                {"type": "Hostname", "address": NODE_NAME},
            ],
            "allocatable": capacity,
            "capacity": capacity,
            "conditions": [
                {
                    "type": kind,
                    "status": status,
                    "reason": reason,
                    "message": message,
                    "lastHeartbeatTime": now,
                    "lastTransitionTime": now,
                }
                for kind, status, reason, message in _CONDITIONS
            ],
            "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
            "nodeInfo": {
                "architecture": "amd64",
                "containerRuntimeVersion": "embedded://1",
                "kernelVersion": "0",
                "kubeProxyVersion": "",
                "kubeletVersion": "v1.37.2",
                "machineID": "",
                "bootID": "",
                "operatingSystem": "linux",
                "osImage": "embedded",
                "systemUUID": "",
            },
        },
    }
