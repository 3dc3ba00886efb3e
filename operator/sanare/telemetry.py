"""Logs and metrics: the only importer of structlog and prometheus_client.

Metrics carry few labels and never an Incident's name. Log records are one JSON object a line, redacted last.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import MutableMapping
from typing import Any

import structlog
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from sanare.text import clean

REGISTRY = CollectorRegistry()
_LINE_BYTES = 8192

ALERTS = Counter("sanare_alerts_total", "Alerts received, by what became of them.", ["result"], registry=REGISTRY)
INCIDENTS_ENDED = Counter("sanare_incidents_ended_total", "Incidents ended.", ["outcome"], registry=REGISTRY)
ATTEMPTS = Counter("sanare_attempts_total", "Attempts judged.", ["tier", "result"], registry=REGISTRY)
PASSES = Counter("sanare_passes_total", "Reconcile passes, by step.", ["step"], registry=REGISTRY)
ERRORS = Counter("sanare_errors_total", "Passes that ended in an error.", ["error"], registry=REGISTRY)
GATE_DECISIONS = Counter(
    "sanare_gate_decisions_total", "Requests decided.", ["decision", "rule"], registry=REGISTRY
)
MODEL_CALLS = Counter("sanare_model_calls_total", "Calls of the model.", ["model", "end"], registry=REGISTRY)
MODEL_TOKENS = Counter("sanare_model_tokens_total", "Tokens used.", ["model", "kind"], registry=REGISTRY)
MODEL_COST = Counter("sanare_model_cost_usd_total", "Known cost of model calls, USD.", ["model"], registry=REGISTRY)
QUEUE_DEPTH = Gauge("sanare_queue_depth", "Incidents that are due or have a wake-up set.", registry=REGISTRY)
STATUS_BYTES = Histogram(
    "sanare_status_bytes",
    "Size of a written status.",
    buckets=(1024, 4096, 16384, 49152, 98304),
    registry=REGISTRY,
)
VERIFY_SECONDS = Histogram(
    "sanare_verify_seconds",
    "From the end of an attempt to its verdict.",
    buckets=(5, 15, 30, 60, 120, 300, 600),
    registry=REGISTRY,
)
TIME_TO_VERIFIED = Histogram(
    "sanare_time_to_verified_seconds",
    "Of repaired Incidents: from the proof that it is broken to the first healthy window that lasted, by tier.",
    ["tier"],
    buckets=(15, 30, 60, 120, 300, 600, 1800, 3600, 14400),
    registry=REGISTRY,
)
REGRESSIONS = Counter(
    "sanare_regressions_total",
    "Repairs that were Fixed and failed again within the policy's watch, by what had repaired them.",
    ["tier", "model"],
    registry=REGISTRY,
)


def metrics_page() -> bytes:
    """The metrics in Prometheus' text format."""
    return generate_latest(REGISTRY)


def logger(name: str) -> structlog.stdlib.BoundLogger:
    """A structured logger: `logger(__name__).info("attempt started", incident=..., tier=...)`."""
    bound: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(name)
    return bound


def configure_logging(level: str) -> None:
    """One JSON line a record on standard error, for our records and the libraries' alike."""
    shared: list[Any] = [
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        _bounded,
    ]
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.JSONRenderer(ensure_ascii=False),
        ],
    )
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for chatty in ("kopf", "kopf.objects", "asyncio", "aiohttp.access", "httpx2", "anthropic"):
        logging.getLogger(chatty).setLevel(max(logging.getLevelName(level), logging.WARNING))
    # It warns that a thread gets no signals; ours are taken by `sanare.app`.
    logging.getLogger("kopf._core.reactor.running").addFilter(
        lambda record: "OS signals" not in record.getMessage()
    )
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )


def _bounded(_: object, __: str, record: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Clean and cap every text of a record."""
    return {key: clean(value, _LINE_BYTES) if isinstance(value, str) else value for key, value in record.items()}
