"""OpenAPI v2: the one thing that kubectl still asks it, whether a `List` may be sent with server-side validation.

kubectl looks for the PATCH of a Namespace and its query parameters, in protobuf (gnostic's openapiv2 Document). The
rest of the document is left out: everything else is in OpenAPI v3.
"""

from __future__ import annotations

from functools import lru_cache

MEDIA_TYPE = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"

_PATH = "/api/v1/namespaces/{name}"
_ABOUT = 'group: ""\nkind: Namespace\nversion: v1\n'


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    return bytes([*encoded, value])


def _field(number: int, *parts: bytes | str) -> bytes:
    """A length-delimited field: text, or a message of the fields given."""
    content = b"".join(part.encode() if isinstance(part, str) else part for part in parts)
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _query_parameter(name: str) -> bytes:
    """Operation.parameters > parameter > non_body_parameter > query_parameter_sub_schema."""
    return _field(8, _field(1, _field(2, _field(3, _field(2, "query"), _field(4, name)))))


@lru_cache(maxsize=1)
def document() -> bytes:
    """The document, encoded."""
    parameters = [_query_parameter(name) for name in ("dryRun", "fieldManager", "fieldValidation")]
    about = _field(13, _field(1, "x-kubernetes-group-version-kind"), _field(2, _field(2, _ABOUT)))
    path_item = _field(8, *parameters, about)
    paths = _field(2, _field(1, _PATH), _field(2, path_item))
    return _field(1, "2.0") + _field(2, _field(1, "Kubernetes"), _field(2, "v1.37.2")) + _field(8, paths)
