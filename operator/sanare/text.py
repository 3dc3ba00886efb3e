"""External text before it is stored, logged or sent: cleaned of what hides, redacted, capped. Pure.

Logs, events, annotations, alert texts, kubectl's output and a model's words are external. `clean` is for all of
them; `cap` says how much was cut; sizes are UTF-8 bytes, since that is what the API server counts.
"""

from __future__ import annotations

import re

# Terminal escapes (CSI, OSC and two-character ones), then what a reader cannot see: C0 and C1 controls except
# newline and tab, zero-width and bidi marks, variation selectors and the tag block (U+E0000-E007F).
_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x9b[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[@-Z\\-_]?"
)
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
_SURROGATES = re.compile("[\ud800-\udfff]")

_MASK = "[redacted]"
# Every repetition is bounded or starts where it could not have started earlier: such text is chosen by whoever
# writes a log line, and must not cost more than its length.
_SECRETS: tuple[tuple[re.Pattern[str], str], ...] = (
    (
        re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.S),
        _MASK,
    ),
    (re.compile(r"(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"), _MASK),  # a JSON web token
    (
        re.compile(r"\b(sk-[A-Za-z]{2,}[\w-]{8,}|gh[pousr]_\w{20,}|xox[baprs]-[\w-]{10,}|AKIA[0-9A-Z]{16})"),
        _MASK,
    ),
    (
        re.compile(r"(?i)\b(authorization:\s{0,8})(?:bearer|basic)?\s{0,8}[^\s,;]+(?:\s{1,8}[\w.~+/=-]{8,})?"),
        rf"\1{_MASK}",
    ),
    (re.compile(r"(?i)\b(bearer\s+)[\w.~+/=-]{8,}"), rf"\1{_MASK}"),
    (re.compile(r"(?i)(://[^/\s:@]+:)[^/\s@]+(@)"), rf"\1{_MASK}\2"),  # user:password@host
    (
        # Kubernetes' own fields (secretName, secretKeyRef, automountServiceAccountToken, ...) hold names.
        re.compile(
            r"(?i)((?:passw(?:or)?d|passphrase|(?<!imagepull)secret(?!(?:name|ref|keyref)\b)|(?<!serviceaccount)token"
            r"|api[-_]?key|access[-_]?key|private[-_]?key)"
            r"[\w.-]{0,64}[\"']?\s{0,8}[=:][ \t]{0,8})(?!<set to the key|\[redacted\])"
            r"(\"[^\"\n]*\"|'[^'\n]*'|[^\s,;}\]&\"']{3,})"
        ),
        rf"\1{_MASK}",
    ),
)


def strip_hidden(text: str) -> str:
    """Remove terminal escapes, control characters except newline and tab, and characters that do not show."""
    text = _ESCAPES.sub("", text.replace("\r\n", "\n"))
    return _SURROGATES.sub("\ufffd", _HIDDEN.sub("", text))


def redact(text: str) -> str:
    """Mask what looks like a credential: keys, tokens, passwords in URLs and assignments."""
    for pattern, replacement in _SECRETS:
        text = pattern.sub(replacement, text)
    return text


def cap(text: str, limit: int) -> str:
    """At most `limit` UTF-8 bytes, cut on a character, with a mark that says how many bytes are missing."""
    raw = text.encode("utf-8", "replace")
    if len(raw) <= limit:
        return text
    mark = f" …[{len(raw)} bytes]"
    room = max(limit - len(mark.encode()), 0)
    return raw[:room].decode("utf-8", "ignore") + cap_mark(mark, limit - room)


def cap_mark(mark: str, room: int) -> str:
    """The mark itself where it fits, else what fits of it."""
    return mark.encode()[:room].decode("utf-8", "ignore")


def cap_middle(text: str, limit: int) -> str:
    """Like `cap`, but keeps the start and the end: for logs and diffs, whose ends matter most."""
    raw = text.encode("utf-8", "replace")
    if len(raw) <= limit:
        return text
    mark = f"\n…[{len(raw) - limit} of {len(raw)} bytes cut]…\n"
    room = max(limit - len(mark.encode()), 0)
    head = raw[: room // 2].decode("utf-8", "ignore")
    tail = raw[len(raw) - (room - room // 2) :].decode("utf-8", "ignore")
    return head + cap_mark(mark, limit - room) + tail


def clean(text: str, limit: int) -> str:
    """Everything that external text needs before it goes anywhere: stripped, redacted, capped (bytes)."""
    return (
        cap(redact(strip_hidden(text[: 8 * limit])), limit)
        if len(text) > 8 * limit
        else cap(redact(strip_hidden(text)), limit)
    )


def one_line(text: str, limit: int) -> str:
    """`clean`, with every run of white space made one blank: for reasons, events and table cells."""
    return clean(" ".join(strip_hidden(text[: 8 * limit]).split()), limit)
