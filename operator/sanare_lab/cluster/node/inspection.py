"""Inspection: what a probe finds when it asks, with the kubelet's own words."""

from __future__ import annotations

from sanare_lab.cluster.node.container import Container
from sanare_lab.cluster.node.network import ConnectionRefused, Endpoint, Network, NoRoute
from sanare_lab.cluster.node.probes import Finding, Outcome
from sanare_lab.cluster.node.run import StartError
from sanare_lab.cluster.node.shell import exec_exit
from sanare_lab.cluster.objects import Obj


def find(network: Network, pod: Endpoint, container: Container, probe: Obj) -> Finding:
    """Ask what the probe asks of a container in that pod."""
    if "exec" in probe:
        return _exec(network, pod, container, probe["exec"].get("command") or [])
    if "httpGet" in probe:
        return _http(network, pod.ip, container, probe["httpGet"])
    if "tcpSocket" in probe:
        return _tcp(network, pod.ip, container, probe["tcpSocket"])
    return Finding(Outcome.SUCCESS)


def port_number(container: Obj, port: object) -> int | None:
    """The number behind a port's name or number, None where the container names no such port."""
    if isinstance(port, int) or str(port).isdecimal():
        return int(str(port))
    for item in container.get("ports") or []:
        if item.get("name") == port:
            return int(item["containerPort"])
    return None


def _http(network: Network, ip: str, container: Container, action: Obj) -> Finding:
    port = port_number(container.spec, action.get("port"))
    if port is None:
        return _no_port(action.get("port"))
    scheme = (action.get("scheme") or "HTTP").lower()
    host, path = action.get("host") or ip, action.get("path") or "/"
    path = path if path.startswith("/") else f"/{path}"
    try:
        answer = network.request(host, port, "GET", path)
    except (ConnectionRefused, NoRoute) as exc:
        return Finding(Outcome.FAILURE, f'Get "{scheme}://{host}:{port}{path}": {exc}')
    if scheme == "https":
        why = "http: server gave HTTP response to HTTPS client"
        return Finding(Outcome.FAILURE, f'Get "https://{host}:{port}{path}": {why}')
    if not 200 <= answer.status < 400:
        return Finding(Outcome.FAILURE, f"HTTP probe failed with statuscode: {answer.status}")
    return Finding(Outcome.SUCCESS, settled=_is_settled(container))


def _tcp(network: Network, ip: str, container: Container, action: Obj) -> Finding:
    port = port_number(container.spec, action.get("port"))
    if port is None:
        return _no_port(action.get("port"))
    try:
        network.connect(action.get("host") or ip, port)
    except (ConnectionRefused, NoRoute) as exc:
        return Finding(Outcome.FAILURE, str(exc))
    return Finding(Outcome.SUCCESS, settled=_is_settled(container))


def _exec(network: Network, pod: Endpoint, container: Container, command: list[str]) -> Finding:
    process = container.process
    if process is None:
        return Finding(Outcome.ERROR, "container not running")
    result = exec_exit(process.image, command, process.env, process.files, lambda url: network.fetch(url, pod))
    if isinstance(result, StartError):
        what = result.message.partition("runc create failed: ")[2]
        return Finding(
            Outcome.ERROR,
            "rpc error: code = Unknown desc = failed to exec in container: failed to start exec: OCI runtime exec "
            f"failed: exec failed: {what}",
        )
    code, output = result
    return Finding(Outcome.FAILURE if code else Outcome.SUCCESS, output if code else "")


def _no_port(port: object) -> Finding:
    return Finding(Outcome.ERROR, f'strconv.Atoi: parsing "{port}": invalid syntax')


def _is_settled(container: Container) -> bool:
    """Whether the answer stands until the container ends: it depends on nothing outside."""
    process = container.process
    return process is not None and not any(
        listener.site is not None and listener.site.backend for listener in process.run.listeners
    )
