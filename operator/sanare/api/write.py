"""`python -m sanare.api.write ROOT` writes what is made from the models: CRDs, their copy, docs/reference.md."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from sanare.api.crd import policy_values, rendered
from sanare.api.policy import PolicySpec
from sanare.api.reference import reference
from sanare.api.schema import structural


def write(root: Path) -> None:
    """Write everything below the project's folder."""
    for name, text in rendered():
        (root / "crds" / name).write_text(text)
        (root / "charts/sanare/files/crds" / name).write_text(text)
    values = root / "charts/sanare/values.schema.json"
    schema = json.loads(values.read_text())
    schema["properties"]["defaultPolicy"] = policy_values(structural(PolicySpec, defaults=False))
    values.write_text(json.dumps(schema, indent=2) + "\n")
    (root / "docs/reference.md").write_text(reference())


if __name__ == "__main__":
    write(Path(sys.argv[1]))
