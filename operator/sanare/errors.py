"""The error tree of sanare. One question decides what an error means: may it be retried.

SanareError
├── ConfigError                 a setting is wrong; the message says which and what to write instead
├── InvalidIncident             the Incident cannot be worked on as it stands (terminal, a named condition)
├── KubeError                   the API server's answer, or its absence
│   ├── NotFound   404          ├── Forbidden  403        ├── Conflict   409
│   ├── Gone       410          ├── Invalid    400, 422   ├── TooLarge   413
│   └── Unreachable             no answer, 429 or 5xx (retryable)
├── ToolError                   a tool call that failed or was refused; the model may read it
│   ├── Refused                 the screen or the gate said no, with the rule's name
│   └── ToolTimeout
├── ModelError                  the model's service did not give a usable answer
│   ├── ModelUnavailable        connection, 408, 409, 429, 5xx (retryable)
│   └── ModelUnusable           key, request or response that will not get better by itself
└── BudgetExceeded              a limit of the policy is reached
"""

from __future__ import annotations

from typing import ClassVar


class SanareError(Exception):
    """Root of every error that sanare raises on purpose."""

    retryable: ClassVar[bool] = False


class ConfigError(SanareError):
    """A setting is missing or wrong."""


class InvalidIncident(SanareError):
    """The Incident cannot be worked on; `reason` is the CamelCase reason of its Accepted condition."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class KubeError(SanareError):
    """The API server refused or failed a request.

    Attributes:
        status: HTTP status code, 0 when there was no answer.
        reason: the `reason` of the returned Status object, for example `NotFound`.
    """

    def __init__(self, message: str, *, status: int = 0, reason: str = "") -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason


class NotFound(KubeError):
    """404: the object, its namespace or its kind does not exist."""


class Forbidden(KubeError):
    """401 or 403: the identity used has no such right."""


class Conflict(KubeError):
    """409: a resourceVersion or uid precondition failed, or the object exists already."""


class Gone(KubeError):
    """410: the resourceVersion asked for is too old; list again."""


class Invalid(KubeError):
    """400 or 422: the API server refused the content."""


class TooLarge(KubeError):
    """413: the request is larger than the API server accepts."""


class Unreachable(KubeError):
    """No answer in time, 429 or 5xx."""

    retryable = True


class ToolError(SanareError):
    """A tool call failed; the text is meant for the model."""


class Refused(ToolError):
    """The screen or the gate refused; `rule` names the rule, the message says what is possible instead."""

    def __init__(self, rule: str, message: str) -> None:
        super().__init__(message)
        self.rule = rule


class ToolTimeout(ToolError):
    """The command ran into its time-out and its process group was killed."""


class ModelError(SanareError):
    """The model's service gave no usable answer."""


class ModelUnavailable(ModelError):
    """A passing fault of the service."""

    retryable = True


class ModelUnusable(ModelError):
    """A fault that the same request will meet again: key, rights, request, response."""


class BudgetExceeded(SanareError):
    """A limit of the policy is reached; `limit` names it."""

    def __init__(self, limit: str, message: str) -> None:
        super().__init__(message)
        self.limit = limit
