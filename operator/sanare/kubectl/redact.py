"""Hides Secret values in whatever shape the API server sends them. Pure; keys stay visible, values do not."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from typing import Any

from sanare.api.manifest import Manifest, mapping, text
from sanare.text import redact

MASK = "[redacted]"
# `data` holds base64; a client that decodes it must find the mask.
_ENCODED_MASK = base64.b64encode(MASK.encode()).decode()
_LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"

# An environment entry in YAML or JSON whose name says that its value is a credential.
_CREDENTIAL = r"(?:passw(?:or)?d|passphrase|secret|token|api_?key|credential|private_?key)"
_ENV_VALUE = re.compile(
    rf"(?i)(\bname[\"']?:[ ]?[\"']?[\w.-]{{0,64}}{_CREDENTIAL}[\w.-]{{0,64}}[\"']?,?\s{{0,80}}"
    r"[\"']?value[\"']?:[ ]?)"
    r"(?![{\[|>])(\"(?:[^\"\\]|\\.)*\"|'[^']*'|[^\s,}][^\n]*)"
)


def mask_secrets(value: Manifest, *, all_secret: bool = False) -> dict[str, Any]:
    """A copy of an object, list, Table or watch event in which no Secret shows a value.

    `all_secret` says that it answers a question for Secrets: every object in it is one, whatever kind it says, as
    the metadata-only and the tabular shapes do not say it.
    """
    secret = all_secret or text(value, "kind") == "Secret" or _is_secret_part(value)
    masked = _mask_one(value) if secret else dict(value)
    inner = all_secret or text(value, "kind") == "SecretList"
    for field in ("items", "rows"):
        if isinstance(value.get(field), list):
            masked[field] = [_mask_inner(item, inner) for item in value[field]]
    if isinstance(value.get("object"), Mapping):
        masked["object"] = mask_secrets(value["object"], all_secret=inner)
    return masked


def _mask_inner(item: object, all_secret: bool) -> object:
    return mask_secrets(item, all_secret=all_secret) if isinstance(item, Mapping) else item


def _is_secret_part(value: Manifest) -> bool:
    """A Secret without its kind, as the items of a SecretList are."""
    return "kind" not in value and isinstance(value.get("type"), str) and "data" in value


def _mask_one(secret: Manifest) -> dict[str, Any]:
    masked = dict(secret)
    for field, mask in (("data", _ENCODED_MASK), ("stringData", MASK)):
        if isinstance(secret.get(field), Mapping):
            masked[field] = dict.fromkeys(secret[field], mask)
    if _LAST_APPLIED in mapping(secret, "metadata", "annotations"):
        annotations = {k: v for k, v in secret["metadata"]["annotations"].items() if k != _LAST_APPLIED}
        masked["metadata"] = {**secret["metadata"], "annotations": annotations}
    return masked


def mask_body(body: bytes) -> bytes:
    """A JSON answer to a question for Secrets, masked. What is not a JSON object is answered with nothing of it."""
    try:
        parsed = json.loads(body)
    except ValueError:
        parsed = None
    if not isinstance(parsed, dict):
        return b"{}"
    return json.dumps(mask_secrets(parsed, all_secret=True)).encode()


def mask_output(output: str) -> str:
    """kubectl's printed text with credentials masked, environment values by their variable's name too."""
    return redact(_ENV_VALUE.sub(rf"\1{MASK}", output))
