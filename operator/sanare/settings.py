"""Settings: every environment variable the operator reads, with its unit, default and consequence."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from sanare.errors import ConfigError


@dataclass(frozen=True, slots=True)
class Settings:
    """The operator's configuration; Helm values set the same variables.

    Attributes:
        namespace: SANARE_NAMESPACE, the operator's own, never in an agent's scope. Default `sanare-system`.
        watch_namespaces: SANARE_WATCH_NAMESPACES, comma-separated; empty means every namespace.
        default_policy: SANARE_DEFAULT_POLICY, path of a YAML file with a RemediationPolicy spec; empty means the
            built-in default (the runbook twice, then a person).
        kubectl: SANARE_KUBECTL, path of the kubectl binary; found on PATH when empty.
        agent_account: SANARE_AGENT_ACCOUNT, `namespace:name` of the service account that an agent's requests are
            sent as (impersonated); empty sends them as the operator itself.
        workers: SANARE_WORKERS, Incidents worked on at once. Default 4.
        relist_seconds: SANARE_RELIST_SECONDS, every how often all Incidents are listed again. Default 300.
        webhook_token_file: SANARE_WEBHOOK_TOKEN_FILE, file with the bearer token Alertmanager must send; empty
            turns the webhook off.
        listen: SANARE_LISTEN, `host:port` of the webhook, probes and metrics. Default `0.0.0.0:8080`.
        gate_listen: SANARE_GATE_LISTEN, address of the gate. Default `127.0.0.1:0`, loopback and a free port.
        has_model_key: whether ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN is set; the SDK reads the key, we never do.
        prometheus_url: SANARE_PROMETHEUS_URL, base URL of the Prometheus that promql checks query; empty means
            that they cannot be asked. Incidents never name one.
        prometheus_token_file: SANARE_PROMETHEUS_TOKEN_FILE, file with a bearer token for it; empty sends none.
        probe_image: SANARE_PROBE_IMAGE, image with Python 3 for the probe pods of declared checks; empty means that
            `from: ProbePod` cannot be asked.
        in_cluster: whether KUBERNETES_SERVICE_HOST is set, as in every pod: only there does `from: Operator` reach.
        prices_file: SANARE_PRICES, JSON file of model prices laid over the built-in table (docs/model.md).
        log_level: SANARE_LOG_LEVEL, DEBUG, INFO, WARNING or ERROR. Default INFO.
    """

    namespace: str = "sanare-system"
    watch_namespaces: tuple[str, ...] = ()
    default_policy: Path | None = None
    kubectl: str = ""
    agent_account: str = ""
    workers: int = 4
    relist_seconds: float = 300.0
    webhook_token_file: Path | None = None
    listen: tuple[str, int] = ("0.0.0.0", 8080)  # noqa: S104 - a pod's port, behind its Service
    gate_listen: tuple[str, int] = ("127.0.0.1", 0)
    prometheus_url: str = ""
    prometheus_token_file: Path | None = None
    probe_image: str = ""
    in_cluster: bool = False
    prices_file: Path | None = None
    log_level: str = "INFO"
    has_model_key: bool = field(default=False)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Self:
        """Read the environment. Raises ConfigError naming the variable and what to write instead."""
        get = environment.get
        account = get("SANARE_AGENT_ACCOUNT", "")
        if account and account.count(":") != 1:
            raise ConfigError(f"SANARE_AGENT_ACCOUNT={account!r}: write it as namespace:name")
        level = get("SANARE_LOG_LEVEL", "INFO").upper()
        if level not in ("DEBUG", "INFO", "WARNING", "ERROR"):
            raise ConfigError(f"SANARE_LOG_LEVEL={level!r}: use DEBUG, INFO, WARNING or ERROR")
        return cls(
            namespace=get("SANARE_NAMESPACE", "sanare-system"),
            watch_namespaces=tuple(n.strip() for n in get("SANARE_WATCH_NAMESPACES", "").split(",") if n.strip()),
            default_policy=_path(get("SANARE_DEFAULT_POLICY", "")),
            kubectl=get("SANARE_KUBECTL", ""),
            agent_account=account,
            workers=int(_number("SANARE_WORKERS", get("SANARE_WORKERS", "4"), low=1, high=64)),
            relist_seconds=_number("SANARE_RELIST_SECONDS", get("SANARE_RELIST_SECONDS", "300"), low=1, high=86400),
            webhook_token_file=_path(get("SANARE_WEBHOOK_TOKEN_FILE", "")),
            listen=_address("SANARE_LISTEN", get("SANARE_LISTEN", "0.0.0.0:8080")),
            gate_listen=_address("SANARE_GATE_LISTEN", get("SANARE_GATE_LISTEN", "127.0.0.1:0")),
            prometheus_url=_url("SANARE_PROMETHEUS_URL", get("SANARE_PROMETHEUS_URL", "")),
            prometheus_token_file=_path(get("SANARE_PROMETHEUS_TOKEN_FILE", "")),
            probe_image=get("SANARE_PROBE_IMAGE", ""),
            in_cluster=bool(get("KUBERNETES_SERVICE_HOST")),
            prices_file=_path(get("SANARE_PRICES", "")),
            log_level=level,
            has_model_key=bool(get("ANTHROPIC_API_KEY") or get("ANTHROPIC_AUTH_TOKEN")),
        )


def _path(text: str) -> Path | None:
    return Path(text) if text else None


def _url(name: str, text: str) -> str:
    try:
        parts = urlsplit(text)
        known = not text or (parts.scheme in ("http", "https") and bool(parts.hostname) and not parts.query)
    except ValueError:
        known = False
    if not known:
        raise ConfigError(f"{name}={text!r}: write it as http://host:port or https://host/path")
    return text.rstrip("/")


def _number(name: str, text: str, *, low: float, high: float) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not low <= value <= high:
        raise ConfigError(f"{name}={text!r}: use a number from {low:g} to {high:g}")
    return value


def _address(name: str, text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host or not port.isdigit() or int(port) > 65535:
        raise ConfigError(f"{name}={text!r}: write it as host:port")
    return host.strip("[]"), int(port)
