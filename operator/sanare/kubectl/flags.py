"""The flags that a command may carry, as data: everything that is not listed is refused."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

from sanare.errors import Refused
from sanare.text import one_line


class Arity(Enum):
    """How kubectl reads a flag's value."""

    BOOL = "no value, or =true and =false"
    VALUE = "one value"
    OPTIONAL = "a value only after ="


Check = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class Flag:
    """One flag of the allow list. `check` answers with the canonical value or raises Refused."""

    name: str
    arity: Arity
    check: Check
    short: str = ""
    repeatable: bool = False


def _refuse(value: str, wanted: str) -> Refused:
    return Refused("FlagValue", f"{one_line(value, 80)!r} cannot be used here: {wanted}")


def whole_number(value: str) -> str:
    """A number as Go reads it (decimal, 0x, 0o, 0b, leading-zero octal), written in decimal."""
    text = value.replace("_", "")
    if re.fullmatch(r"0[0-7]+", text):
        return str(int(text, 8))
    if re.fullmatch(r"(0|[1-9][0-9]{0,8}|0[xX][0-9a-fA-F]{1,7}|0[oO][0-7]{1,9}|0[bB][01]{1,30})", text):
        return str(int(text, 0))
    raise _refuse(value, "write a whole number such as 3")


def seconds(value: str) -> str:
    """A positive duration such as 90s or 2m."""
    if not re.fullmatch(r"[1-9][0-9]{0,4}(s|m|h)|[1-9][0-9]{0,2}m[0-9]{1,2}s", value):
        raise _refuse(value, "write a duration such as 60s or 2m")
    return value


def one_of(*allowed: str) -> Check:
    """One of the words."""

    def check(value: str) -> str:
        if value not in allowed:
            raise _refuse(value, f"use one of {', '.join(allowed)}")
        return value

    return check


def matching(pattern: str, wanted: str) -> Check:
    """Text that matches the whole pattern."""
    compiled = re.compile(pattern)

    def check(value: str) -> str:
        if not compiled.fullmatch(value):
            raise _refuse(value, wanted)
        return value

    return check


_JSONPATH = r"[\w\[\]{}().,:;*@?=<>&|!'\"/\\$ \t\n~%+#-]{1,1000}"
output_format = matching(
    rf"(json|yaml|wide|name|jsonpath(-as-json)?={_JSONPATH}|custom-columns={_JSONPATH})",
    "use -o json, yaml, wide, name, jsonpath=... or custom-columns=...",
)
any_text = matching(r"(?s).{0,20000}", "shorter text is needed")
selector = matching(r"[\w./=!,() -]{1,500}", "write a selector such as app=web")
field_path = matching(r"[\w.\[\]{}*?@()=\"'\\/-]{1,200}", "write a field path such as .metadata.name")
container_name = matching(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", "write one container's name")
_word = matching(r"[A-Za-z0-9][\w./:-]{0,252}", "write one plain word")
_quantities = matching(
    r"[a-z0-9.-]+=[0-9.]+[A-Za-z]*(,[a-z0-9.-]+=[0-9.]+[A-Za-z]*)*", "write cpu=100m,memory=256Mi"
)
_port = matching(r"[0-9]{1,5}(,[0-9]{1,5})*", "write a port number")
_boolean = one_of("true", "false")


def _flag(name: str, check: Check, short: str = "", *, repeatable: bool = False) -> Flag:
    return Flag(name, Arity.VALUE, check, short, repeatable)


def _switch(name: str, short: str = "") -> Flag:
    return Flag(name, Arity.BOOL, _boolean, short)


NAMESPACE = _flag("namespace", any_text, "n")
_OUTPUT = _flag("output", output_format, "o")
_SELECTOR = _flag("selector", selector, "l")
_FIELDS = _flag("field-selector", selector)
_FILE = _flag("filename", one_of("-"), "f")
_DRY_RUN = Flag("dry-run", Arity.OPTIONAL, one_of("none", "server", "client"))
_VALIDATE = Flag("validate", Arity.OPTIONAL, one_of("true", "strict", "warn"))
_CASCADE = Flag("cascade", Arity.OPTIONAL, one_of("background", "foreground", "orphan"))
_MANAGER = _flag("field-manager", matching(r"[\w.-]{1,64}", "write a plain word"))
_TIMEOUT = _flag("timeout", seconds)
_CONTAINERS = _flag("containers", container_name, "c")
_TABLE = (_OUTPUT, _switch("no-headers"))
_WRITE = (_DRY_RUN, _OUTPUT, _MANAGER)
_REPLICAS = _flag("replicas", whole_number)
_REVISION = _flag("revision", whole_number)
_CREATE = (*_WRITE, _VALIDATE)
_TCP = _flag("tcp", matching(r"[0-9]{1,5}(:[a-z0-9-]{1,63})?", "write PORT:TARGETPORT"), repeatable=True)

_SWITCHES_GET = ("show-labels", "show-kind", "ignore-not-found", "show-managed-fields")

ALLOWED: Mapping[str, tuple[Flag, ...]] = {
    "get": (
        *_TABLE,
        _SELECTOR,
        _FIELDS,
        *map(_switch, _SWITCHES_GET),
        _flag("label-columns", selector, "L"),
        _flag("sort-by", field_path),
        _flag("chunk-size", whole_number),
    ),
    "describe": (_SELECTOR, _switch("show-events")),
    "logs": (
        _flag("container", container_name, "c"),
        _switch("previous", "p"),
        _flag("tail", whole_number),
        _flag("max-log-requests", whole_number),
        _flag("limit-bytes", whole_number),
        _flag("since", seconds),
        _flag("since-time", matching(r"[0-9T:.Z+-]{10,35}", "write an RFC 3339 time")),
        _SELECTOR,
        *map(_switch, ("all-containers", "timestamps", "prefix", "ignore-errors", "all-pods")),
    ),
    "events": (
        *_TABLE,
        _flag("for", any_text),
        _flag("types", matching(r"(Normal|Warning)(,(Normal|Warning))?", "use Normal or Warning")),
    ),
    "top pods": (
        _SELECTOR,
        _switch("containers"),
        _switch("no-headers"),
        _flag("sort-by", one_of("cpu", "memory")),
    ),
    "top nodes": (_SELECTOR, _switch("no-headers"), _flag("sort-by", one_of("cpu", "memory"))),
    "explain": (_switch("recursive"), _flag("api-version", _word)),
    "version": (_switch("client"), _flag("output", one_of("json", "yaml"), "o")),
    "api-resources": (_switch("no-headers"), _flag("api-group", _word), _switch("namespaced")),
    "auth can-i": (_switch("list"), _switch("quiet", "q"), _switch("no-headers")),
    "wait": (_flag("for", any_text), _TIMEOUT, _SELECTOR),
    "rollout status": (_TIMEOUT, _REVISION, _switch("watch", "w")),
    "rollout history": (_REVISION, _flag("output", one_of("json", "yaml"), "o")),
    "rollout undo": (_flag("to-revision", whole_number), _DRY_RUN, _OUTPUT, _SELECTOR),
    "rollout restart": (_OUTPUT, _MANAGER, _SELECTOR),
    "rollout pause": (_OUTPUT, _MANAGER, _SELECTOR),
    "rollout resume": (_OUTPUT, _MANAGER, _SELECTOR),
    "scale": (_REPLICAS, _flag("current-replicas", whole_number), _DRY_RUN, _OUTPUT, _SELECTOR),
    "set image": (*_WRITE, _SELECTOR),
    "set env": (
        *_WRITE,
        _SELECTOR,
        _CONTAINERS,
        _switch("list"),
        _switch("overwrite"),
        _flag("from", any_text),
        _flag("prefix", matching(r"[A-Za-z_]\w{0,63}", "write a plain word")),
        _flag("keys", matching(r"[\w.-]+(,[\w.-]+)*", "write key names")),
    ),
    "set resources": (
        *_WRITE,
        _SELECTOR,
        _CONTAINERS,
        _flag("limits", _quantities),
        _flag("requests", _quantities),
    ),
    "set selector": _WRITE,
    "patch": (
        *_WRITE,
        _flag("type", one_of("strategic", "merge", "json")),
        _flag("patch", any_text, "p"),
        _flag("subresource", one_of("scale")),
    ),
    "label": (*_WRITE, _SELECTOR, _switch("overwrite"), _switch("list")),
    "annotate": (*_WRITE, _SELECTOR, _switch("overwrite"), _switch("list")),
    "delete": (
        _FILE,
        _SELECTOR,
        _FIELDS,
        _DRY_RUN,
        _CASCADE,
        _TIMEOUT,
        _flag("output", one_of("name"), "o"),
        _flag("grace-period", whole_number),
        *map(_switch, ("force", "now", "wait", "ignore-not-found")),
    ),
    "apply": (_FILE, *_CREATE, *map(_switch, ("server-side", "force-conflicts", "overwrite"))),
    "create": (_FILE, *_CREATE, _switch("save-config")),
    "replace": (_FILE, *_CREATE, _switch("save-config")),
    "create configmap": (
        *_CREATE,
        _flag("from-literal", matching(r"(?s)[\w.-]{1,253}=.{0,20000}", "write KEY=VALUE"), repeatable=True),
    ),
    "create job": (
        *_CREATE,
        _flag("from", matching(r"(cronjob|cj|cronjobs)(\.batch)?/[a-z0-9.-]+", "use cronjob/NAME")),
    ),
    "create service clusterip": (*_CREATE, _TCP),
    "create service nodeport": (*_CREATE, _TCP),
    "create service loadbalancer": (*_CREATE, _TCP),
    "create ingress": (
        *_CREATE,
        _flag("class", container_name),
        _flag(
            "rule", matching(r"[\w.*/-]+=[a-z0-9-]+:[a-z0-9-]+", "write HOST/PATH=SERVICE:PORT"), repeatable=True
        ),
    ),
    "create quota": (
        *_CREATE,
        _flag("hard", matching(r"[\w./-]+=[\w.]+(,[\w./-]+=[\w.]+)*", "write pods=10,cpu=4")),
    ),
    "create poddisruptionbudget": (
        *_CREATE,
        _flag("selector", selector),
        _flag("min-available", matching(r"[0-9]{1,4}%?", "write a number or percentage")),
        _flag("max-unavailable", matching(r"[0-9]{1,4}%?", "write a number or percentage")),
    ),
    "autoscale": (
        *_WRITE,
        _flag("min", whole_number),
        _flag("max", whole_number),
        _flag("cpu-percent", whole_number),
        _flag("cpu", matching(r"[0-9]{1,6}[m%]?", "write 80% or 500m")),
        _flag("memory", matching(r"[0-9]{1,6}([KMG]i|%)?", "write 80% or 500Mi")),
        _flag("name", container_name),
    ),
    "expose": (
        *_WRITE,
        _flag("port", _port),
        _flag("target-port", matching(r"[0-9]{1,5}|[a-z0-9-]{1,15}", "write a port")),
        _flag("name", container_name),
        _flag("protocol", one_of("TCP", "UDP", "SCTP")),
        _flag("type", one_of("ClusterIP", "NodePort", "LoadBalancer")),
        _flag("selector", selector),
    ),
}

# Flags that models reach for, and what to do instead.
ADVICE: Mapping[str, str] = {
    "A": "read one namespace at a time with -n",
    "all-namespaces": "read one namespace at a time with -n",
    "f": "nothing is followed here and no file is read; use --tail for logs, and -f - with the manifest on stdin",
    "follow": "logs are not followed; use --tail=100",
    "w": "nothing is watched here; use kubectl wait or kubectl rollout status with --timeout",
    "watch": "nothing is watched here; use kubectl wait or kubectl rollout status with --timeout",
    "watch-only": "nothing is watched here; use kubectl wait with --timeout",
    "all": "name the objects one by one",
    "force": "force is not used here",
    "prune": "name the objects one by one",
    "k": "kustomizations are not built here; give the manifest on stdin with -f -",
    "kustomize": "kustomizations are not built here; give the manifest on stdin with -f -",
    "patch-file": "give the patch with -p",
    "from-file": "local files are not read; use --from-literal=KEY=VALUE or apply -f -",
    "from-env-file": "local files are not read; use --from-literal=KEY=VALUE or apply -f -",
    "template": "use -o jsonpath=...",
    "resolve": "Secrets are out of reach",
    "raw": "name a kind and an object",
    "edit": "there is no editor; use kubectl patch or apply -f -",
    "interactive": "nothing can be asked here",
}
