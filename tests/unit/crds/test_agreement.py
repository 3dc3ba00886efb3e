"""The CRD files say what the models say, and everything a writer can fill is bounded and described."""

from __future__ import annotations

import enum
import types
import typing
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import pytest
import yaml
from pydantic.fields import FieldInfo

from sanare.api.crd import DEFINITIONS, Definition, rendered
from sanare.api.model import Model
from sanare.api.reference import reference

ROOT = Path(__file__).parents[3]
COMPARISONS = frozenset({">", ">=", "<", "<=", "==", "!="})
FOLDERS = (ROOT / "crds", ROOT / "charts/sanare/files/crds")


def written(definition: Definition) -> dict[str, Any]:
    """The CRD file as the API server reads it."""
    parsed: dict[str, Any] = yaml.safe_load((ROOT / "crds" / f"{definition.plural}.sanare.dev.yaml").read_text())
    return parsed


def root_schema(definition: Definition) -> dict[str, Any]:
    (version,) = written(definition)["spec"]["versions"]
    schema: dict[str, Any] = version["schema"]["openAPIV3Schema"]
    return schema


def nodes(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every schema node with its path, items and map values included."""
    yield path, schema
    for name, child in schema.get("properties", {}).items():
        yield from nodes(child, f"{path}.{name}")
    if "items" in schema:
        yield from nodes(schema["items"], f"{path}[]")
    if "additionalProperties" in schema:
        yield from nodes(schema["additionalProperties"], f"{path}{{}}")


PARTS = [
    pytest.param(root_schema(d)["properties"][part], model, part == "spec", id=f"{d.kind}.{part}")
    for d in DEFINITIONS
    for part, model in (("spec", d.spec), ("status", d.status))
    if model is not None
]
NODES = [
    pytest.param(path, node, id=f"{d.kind}{path}")
    for d in DEFINITIONS
    for path, node in nodes(root_schema(d))
    if path.startswith((".spec", ".status"))
]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: str(folder.relative_to(ROOT)))
def test_the_files_are_what_make_crds_writes(folder: Path) -> None:
    assert {path.name: path.read_text() for path in folder.iterdir()} == dict(rendered())


def test_the_reference_is_what_make_crds_writes() -> None:
    assert (ROOT / "docs/reference.md").read_text() == reference()


def unwrapped(annotation: Any) -> Any:
    """The annotation without Annotated and without `| None`."""
    while True:
        if get_origin(annotation) is typing.Annotated:
            annotation = get_args(annotation)[0]
        elif get_origin(annotation) in (types.UnionType, typing.Union):
            (annotation,) = (arm for arm in get_args(annotation) if arm is not type(None))
        else:
            return annotation


def words(annotation: Any) -> list[str] | None:
    """The values of an enum or Literal."""
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return [member.value for member in annotation]
    return list(get_args(annotation)) if get_origin(annotation) is Literal else None


def bounds(field: FieldInfo) -> dict[str, object]:
    """What the field's own metadata limits, by the names that pydantic gives the limits."""
    names = ("ge", "le", "min_length", "max_length", "pattern")
    is_optional = get_origin(field.annotation) in (types.UnionType, typing.Union)
    arms = get_args(field.annotation) if is_optional else ()
    metadata = [*field.metadata, *(extra for arm in arms for extra in getattr(arm, "__metadata__", ()))]
    found: dict[str, object] = {}
    for item in metadata:
        found |= {
            name: value for name in names if isinstance(value := getattr(item, name, None), str | int | float)
        }
    return found


def stated(node: dict[str, Any]) -> dict[str, object]:
    """The same limits, as the schema states them."""
    names = {
        "minimum": "ge",
        "maximum": "le",
        "pattern": "pattern",
        "minLength": "min_length",
        "maxLength": "max_length",
        "minItems": "min_length",
        "maxItems": "max_length",
        "maxProperties": "max_length",
    }
    return {names[key]: value for key, value in node.items() if key in names}


def disagreements(schema: dict[str, Any], model: type[Model], path: str = "") -> Iterator[str]:
    """Every difference between a model and the schema of its objects, found by walking the fields themselves."""
    wire = {(field.alias or name): field for name, field in model.model_fields.items()}
    computed = {field.alias for field in model.model_computed_fields.values()}
    if wire.keys() | computed != schema["properties"].keys():
        yield f"{path}: fields {sorted(wire.keys() ^ schema['properties'].keys())}"
    needed = {name for name, field in wire.items() if field.is_required()}
    if needed != set(schema.get("required", ())):
        yield f"{path}: required {needed ^ set(schema.get('required', ()))}"
    for name, field in wire.items():
        yield from field_disagreements(schema["properties"][name], field, f"{path}.{name}")


def field_disagreements(node: dict[str, Any], field: FieldInfo, path: str) -> Iterator[str]:
    kind = unwrapped(field.annotation)
    if node.get("description") != " ".join((field.description or "").split()):
        yield f"{path}: description"
    if node.get("enum") != words(kind):
        yield f"{path}: enum {node.get('enum')} is not {words(kind)}"
    is_duration = any("duration(self)" in rule["rule"] for rule in node.get("x-kubernetes-validations", ()))
    if not is_duration and bounds(field).items() - stated(node).items():
        yield f"{path}: bounds {bounds(field)} are not {stated(node)}"
    if "default" in node and not isinstance(node["default"], dict | list) and not is_duration:
        default = field.default
        if node["default"] != (default.value if isinstance(default, enum.Enum) else default):
            yield f"{path}: default {node['default']} is not {default!r}"
    if get_origin(kind) is tuple:
        kind, node = unwrapped(get_args(kind)[0]), node["items"]
    if isinstance(kind, type) and issubclass(kind, Model):
        yield from disagreements(node, kind, path)


@pytest.mark.parametrize(("schema", "model", "is_spec"), PARTS)
def test_a_schema_agrees_with_its_model(schema: dict[str, Any], model: type[Model], is_spec: bool) -> None:
    assert list(disagreements(schema, model)) == []


@pytest.mark.parametrize(("schema", "model", "is_spec"), PARTS)
def test_defaults_stand_in_the_spec_alone_and_are_the_models(
    schema: dict[str, Any], model: type[Model], is_spec: bool
) -> None:
    """The status is written whole by the operator; a default there would be a second writer."""
    defaults = {name: node["default"] for name, node in schema["properties"].items() if "default" in node}
    if is_spec and not schema.get("required"):
        assert model.parse(defaults) == model.parse({})
        assert defaults
    if not is_spec:
        assert not any("default" in node for _, node in nodes(schema))


@pytest.mark.parametrize(("path", "node"), NODES)
def test_a_node_is_bounded_and_described(path: str, node: dict[str, Any]) -> None:
    is_field = not path.endswith(("[]", "{}"))
    assert not is_field or node["description"]
    match node.get("type"):
        case "string":
            assert "maxLength" in node or "enum" in node or node.get("format") == "date-time"
        case None:
            assert node["x-kubernetes-int-or-string"]
            assert "maxLength" in node
        case "array":
            assert "maxItems" in node
            assert node["x-kubernetes-list-type"] in ("atomic", "map")
        case "object":
            assert "properties" in node or ("maxProperties" in node and node["x-kubernetes-map-type"] == "atomic")
        case other:
            assert other in ("integer", "number", "boolean")


@pytest.mark.parametrize(("path", "node"), NODES)
def test_enumerated_words_are_camel_case(path: str, node: dict[str, Any]) -> None:
    words = [word for word in node.get("enum", ()) if word not in COMPARISONS]
    assert all(word[0].isupper() and word.isalpha() for word in words)


@pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda d: d.kind)
def test_names_are_short_and_not_in_the_category_all(definition: Definition) -> None:
    names = written(definition)["spec"]["names"]
    assert (names["shortNames"], names.get("categories")) == ([definition.short], None)


@pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda d: d.kind)
def test_columns_show_fields_that_exist_and_age_last(definition: Definition) -> None:
    (version,) = written(definition)["spec"]["versions"]
    columns = version["additionalPrinterColumns"]
    known = {path.replace("[]", "[*]") for path, _ in nodes(root_schema(definition))}
    assert columns[-1]["name"] == "Age"
    assert {column["jsonPath"] for column in columns[:-1]} <= known


@pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda d: d.kind)
def test_only_an_incident_has_a_status_subresource(definition: Definition) -> None:
    (version,) = written(definition)["spec"]["versions"]
    assert version.get("subresources") == ({"status": {}} if definition.kind == "Incident" else None)


@pytest.mark.parametrize(("path", "node"), NODES)
def test_every_rule_has_a_message(path: str, node: dict[str, Any]) -> None:
    assert all(rule["message"] for rule in node.get("x-kubernetes-validations", ()))
