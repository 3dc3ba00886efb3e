"""Reading scenarios from folders: every mistake is a ConfigError that names the file and the field."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from sanare.api.incident import Incident
from sanare.api.manifest import Manifest
from sanare.errors import ConfigError
from sanare_lab.scenarios.scenario import Control, ControlKind, Repair, Scenario, ScenarioFile

_Parsed = TypeVar("_Parsed", bound=BaseModel)

# The C loader is ten times as fast, and not everywhere.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

# Where an Incident stands until a run places it.
_UNPLACED = "shop"


def library() -> Path:
    """The folder of the scenarios that come with the lab."""
    return Path(str(files("sanare_lab.scenarios")))


def load_all(folder: Path | None = None, *, only: Iterable[str] = ()) -> tuple[Scenario, ...]:
    """Every scenario below a folder (the lab's own by default), by id; `only` names those wanted, each once."""
    root = library() if folder is None else folder
    found = {path.parent.name: path.parent for path in sorted(root.glob("*/scenario.yaml"))}
    if not found:
        raise ConfigError(f"{root}: no scenario here (a scenario is a folder with a scenario.yaml)")
    wanted = tuple(dict.fromkeys(only)) or tuple(found)
    unknown = [name for name in wanted if name not in found]
    if unknown:
        raise ConfigError(f"no scenario {', '.join(unknown)} in {root}; there is: {', '.join(found)}")
    return tuple(load(found[name]) for name in wanted)


def load(folder: Path) -> Scenario:
    """One scenario. Raises ConfigError naming the file, and the field where it is known."""
    head = _parse(ScenarioFile, _document(folder / "scenario.yaml"), folder / "scenario.yaml")
    if head.id != folder.name:
        raise ConfigError(f"{folder / 'scenario.yaml'}: id: {head.id!r} must be the folder's name, {folder.name!r}")
    broken = _read(folder / "broken.yaml")
    return Scenario(
        id=head.id,
        title=head.title,
        symptom=head.symptom,
        function=head.function,
        faults=head.faults,
        derivation=head.derivation,
        broken=broken,
        manifests=parse_manifests(broken, source=folder / "broken.yaml"),
        incident=_incident(folder / "incident.yaml"),
        controls=_controls(folder, head),
        end=head.end,
    )


def parse_manifests(text: str, *, source: Path) -> tuple[Manifest, ...]:
    """The objects of a multi-document YAML text."""
    try:
        documents = [document for document in yaml.load_all(text, Loader=_LOADER) if document is not None]
    except yaml.YAMLError as error:
        raise ConfigError(f"{source}: not YAML: {error}") from error
    for number, document in enumerate(documents, start=1):
        if not isinstance(document, dict) or not document.get("kind"):
            raise ConfigError(f"{source}: document {number}: kind: missing; each document is one Kubernetes object")
    return tuple(documents)


def _controls(folder: Path, head: ScenarioFile) -> tuple[Control, ...]:
    """References, then nothing, then false repairs."""
    nothing = Control("nothing", ControlKind.NOTHING, "Nothing is done", (), head.nothing)
    references = _repairs(folder, ControlKind.REFERENCE)
    return (*references, nothing, *_repairs(folder, ControlKind.FALSE))


def _repairs(folder: Path, kind: ControlKind) -> tuple[Control, ...]:
    found = []
    for path in sorted((folder / "repairs").glob(f"{kind}*.yaml")):
        repair = _parse(Repair, _document(path), path)
        found.append(Control(path.stem, kind, repair.title, repair.steps, repair.expect))
    return tuple(found)


def _incident(path: Path) -> Incident:
    document = _document(path)
    metadata = document.get("metadata")
    placed = {**metadata, "namespace": _UNPLACED} if isinstance(metadata, dict) else metadata
    return _parse(Incident, {**document, "metadata": placed}, path)


def _document(path: Path) -> Mapping[str, Any]:
    """The single mapping of a file."""
    try:
        document = yaml.load(_read(path), Loader=_LOADER)  # noqa: S506 - a safe loader, see above
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: not YAML: {error}") from error
    if not isinstance(document, dict):
        raise ConfigError(f"{path}: not a mapping of fields")
    return document


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror or error}") from error


def _parse(model: type[_Parsed], document: Mapping[str, Any], path: Path) -> _Parsed:
    """The typed form. The first thing that is wrong is named as `file: field: what`."""
    try:
        return model.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        raise ConfigError(f"{path}: {field}: {first['msg'].replace('valid tuple', 'list')}") from error
