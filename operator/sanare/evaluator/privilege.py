"""What a pod template may do, and what protects others from it, as phrases that can be compared. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from sanare.api.manifest import Manifest, items, mapping, number, text

_CONFINED = ("RuntimeDefault", "Localhost")


def pod_privileges(spec: Manifest, *, is_template: bool) -> Iterator[str]:
    """What the pod as a whole has that pods do not have by themselves; a pod that runs has a node in any case."""
    if spec.get("shareProcessNamespace") is True:
        yield "its containers see each other's processes"
    if spec.get("automountServiceAccountToken") is True:
        yield "its service account's token is mounted"
    if is_template and text(spec, "nodeName"):
        yield f"it is bound to node {text(spec, 'nodeName')} without the scheduler"
    yield from (
        f"hostAliases name {text(each, 'ip')} in the place of the DNS"
        for each in items(spec, "hostAliases")
        if text(each, "ip")
    )
    yield from (
        f"sysctl {text(each, 'name')} is set"
        for each in items(spec, "securityContext", "sysctls")
        if text(each, "name")
    )
    if text(spec, "dnsPolicy") in ("Default", "None"):
        yield "it does not ask the DNS of the cluster"
    if mapping(spec, "dnsConfig").get("nameservers"):
        yield "it asks name servers of its own"
    security = mapping(spec, "securityContext")
    if security.get("runAsGroup") == 0 or 0 in (security.get("supplementalGroups") or ()):
        yield "it runs in group 0"


def pod_safeguards(spec: Manifest) -> Iterator[str]:
    """What holds the pod as a whole back."""
    if spec.get("automountServiceAccountToken") is False:
        yield "its service account's token is not mounted"
    if text(spec, "runtimeClassName"):
        yield f"it runs in runtime class {text(spec, 'runtimeClassName')}"
    if number(spec, "terminationGracePeriodSeconds", default=30) > 1:
        yield "it is given time to end"
    if spec.get("hostUsers") is False:
        yield "it has user ids of its own"


def container_privileges(container: Manifest, spec: Manifest) -> Iterator[str]:
    """What one container has that containers do not have by themselves."""
    security = mapping(container, "securityContext")
    yield from (
        f"hostPort {port.get('hostPort')} is open" for port in items(container, "ports") if port.get("hostPort")
    )
    if text(security, "procMount") == "Unmasked":
        yield "procMount is Unmasked"
    if _effective(container, spec, "seLinuxOptions", "type").startswith("spc"):
        yield "its SELinux type is unconfined"
    if mapping(security, "windowsOptions").get("hostProcess") is True:
        yield "it is a process of the host"
    if security.get("runAsGroup") == 0:
        yield "it runs in group 0"


def container_safeguards(container: Manifest, spec: Manifest) -> Iterator[str]:
    """What holds one container back, of its own or of its pod."""
    for field, what in (("seccompProfile", "a seccomp profile"), ("appArmorProfile", "an AppArmor profile")):
        if _effective(container, spec, field, "type") in _CONFINED:
            yield f"{what} confines it"
    dropped = mapping(container, "securityContext", "capabilities").get("drop")
    yield from sorted(f"capability {name} is dropped" for name in dropped or [])


def lost_safeguards(before: tuple[str, ...], now: tuple[str, ...]) -> list[str]:
    """Safeguards that are gone; dropping all capabilities stands for dropping each."""
    everything = "capability ALL is dropped" in now
    return [each for each in before if each not in now and not (everything and each.startswith("capability "))]


def _effective(container: Manifest, spec: Manifest, *path: str) -> str:
    """A setting of the container's security context, else of its pod's."""
    return text(container, "securityContext", *path) or text(spec, "securityContext", *path)
