"""What a probe pod runs: one request, its outcome as a line of JSON. Standard library alone, no imports of ours.

The text of this file is the pod's command, so that any image with Python 3.8 or newer can be its image. Arguments:
mode (`http` or `tcp`), address, port, host name, scheme, path.
"""

from __future__ import annotations

import base64
import http.client
import json
import socket
import ssl
import sys

SECONDS = 5.0
BODY_BYTES = 64 * 1024


def ask(mode: str, address: str, port: str, host: str, scheme: str = "HTTP", path: str = "/") -> dict[str, object]:
    """The outcome as a dictionary: `status` and `body`, or `failure`."""
    try:
        if mode == "tcp":
            socket.create_connection((address, int(port)), timeout=SECONDS).close()
            return {"open": True}
        return _get(address, int(port), host, scheme, path)
    except ConnectionRefusedError:
        return {"failure": "connection refused"}
    except socket.timeout:  # noqa: UP041 - TimeoutError only since Python 3.10
        return {"failure": "timeout"}
    except (OSError, http.client.HTTPException) as error:
        return {"failure": (getattr(error, "strerror", None) or str(error) or type(error).__name__).lower()}


def _get(address: str, port: int, host: str, scheme: str, path: str) -> dict[str, object]:
    connection = http.client.HTTPConnection(address, port, timeout=SECONDS)
    if scheme == "HTTPS":
        context = ssl._create_unverified_context()  # noqa: S323 - as a kubelet's probe
        connection = http.client.HTTPSConnection(address, port, timeout=SECONDS, context=context)
    connection.request("GET", path, headers={"Host": host, "Connection": "close"})
    answer = connection.getresponse()
    return {"status": answer.status, "body": base64.b64encode(answer.read(BODY_BYTES)).decode()}


if __name__ == "__main__":
    print(json.dumps(ask(*sys.argv[1:])))
