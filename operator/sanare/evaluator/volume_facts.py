"""What of one volume is compared before and after. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from sanare.api.manifest import Manifest, items, mapping, text
from sanare.api.model import Model

# Sources of a projected volume that show an object of the namespace, and those that show what any pod may have.
_BACKS = frozenset({"configMap", "secret"})
_BACKS_ALIKE = frozenset({"serviceAccountToken", "clusterTrustBundle", "podCertificate"})
COMMON = "projected token"
# Volumes with something behind them: no empty or local directory.
BACKED = ("configMap", "secret", "persistentVolumeClaim", "volumeClaimTemplate", "projected", "csi", COMMON)


class VolumeFacts(Model):
    """One volume: `source` is its type (`configMap`) or what a projected one shows, `name` the object behind it."""

    volume: str
    source: str
    name: str = ""
    optional: bool = False


def volume_facts(volume: Manifest) -> VolumeFacts:
    """Read one volume of a pod."""
    source = next((name for name in volume if name != "name"), "emptyDir")
    body = mapping(volume, source)
    if source == "projected":
        source = _projection({name for each in items(body, "sources") for name in each})
    field = {"persistentVolumeClaim": "claimName", "secret": "secretName", "hostPath": "path"}.get(source, "name")
    return VolumeFacts(
        volume=text(volume, "name"),
        source=source,
        name=text(body, field),
        optional=bool(body.get("optional")) or _has_optional_source(body),
    )


def _projection(shown: set[str]) -> str:
    if shown & _BACKS:
        return "projected"
    return COMMON if shown & _BACKS_ALIKE else "projected volume without an object"


def _has_optional_source(projected: Manifest) -> bool:
    sources = items(projected, "sources")
    return any(mapping(each, kind).get("optional") is True for each in sources for kind in ("configMap", "secret"))


def claimed(template: str) -> VolumeFacts:
    """The volume that each pod of a StatefulSet gets from a claim of its own."""
    return VolumeFacts(volume=template, source="volumeClaimTemplate", name=template)


def volume_names(volumes: Iterable[VolumeFacts], source: str) -> set[str]:
    """Names of the objects of one sort that volumes show."""
    return {volume.name for volume in volumes if volume.source == source and volume.name}
