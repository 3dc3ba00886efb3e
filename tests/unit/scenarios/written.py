"""A sound scenario as files, for tests that spoil one thing about it."""

from __future__ import annotations

from pathlib import Path

from sanare_lab.scenarios.loader import library

MODEL = "port-mismatch"


def write_scenario(root: Path, *, name: str = "lost-parcel", model: str = MODEL) -> Path:
    """A copy of a library scenario under another id."""
    source, target = library() / model, root / name
    for path in source.rglob("*.yaml"):
        copy = target / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(path.read_text().replace(f"id: {model}", f"id: {name}"))
    return target


def spoil(path: Path, old: str, new: str) -> None:
    """Replace a text that must be there."""
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
