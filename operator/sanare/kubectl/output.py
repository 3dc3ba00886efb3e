"""What kubectl printed, as it goes to a model, a person or a log. Pure."""

from __future__ import annotations

from sanare.kubectl.redact import mask_output
from sanare.kubectl.runner import Finished
from sanare.text import cap_middle, strip_hidden

_CUT = "\n[the output was longer and kubectl was stopped]"


def readable(finished: Finished, *, token: str, limit: int) -> str:
    """Both streams as one text of at most `limit` bytes: no escapes, no credentials, no token of the gate."""
    streams = [stream.decode("utf-8", "replace").rstrip("\n") for stream in (finished.stdout, finished.stderr)]
    joined = "\n".join(stream for stream in streams if stream)
    told = mask_output(strip_hidden(joined.replace(f"/{token}", "").replace(token, "")))
    return cap_middle(told + (_CUT if finished.cut else ""), limit)
