"""Tables: what `kubectl get` prints, column by column, as the real server makes them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sanare_lab.cluster import jsonpath
from sanare_lab.cluster.cells import age, created_at, since
from sanare_lab.cluster.clock import Clock
from sanare_lab.cluster.columns import COLUMNS
from sanare_lab.cluster.objects import Obj, name_of
from sanare_lab.cluster.resources import ResourceType


@dataclass(frozen=True, slots=True)
class Column:
    """One column: `wide` ones show with -o wide alone."""

    name: str
    cell: Callable[[Obj, dt.datetime], Any]
    type: str = "string"
    wide: bool = False
    format: str = ""
    description: str = ""

    def definition(self) -> Obj:
        """The TableColumnDefinition."""
        return {
            "name": self.name,
            "type": self.type,
            "format": self.format,
            "description": self.description,
            "priority": 1 if self.wide else 0,
        }


class Table:
    """The columns of one kind."""

    def __init__(self, clock: Clock, columns: list[Column]) -> None:
        self._clock = clock
        self._columns = columns

    def definitions(self) -> list[Obj]:
        """The column definitions."""
        return [column.definition() for column in self._columns]

    def cells(self, obj: Obj) -> list[Any]:
        """The row of an object."""
        now = self._clock.now()
        return [column.cell(obj, now) for column in self._columns]


class TableBook:
    """The table of every kind served; custom ones are added when their CRD is."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._tables: dict[str, Table] = {}
        self._plain = Table(clock, [_NAME, Column("Age", age)])

    def add(self, resource: ResourceType, columns: list[Obj]) -> None:
        """Use a CRD's additionalPrinterColumns; without any there are Name and Age."""
        printed = [_custom_column(column) for column in columns] or [Column("Age", age)]
        self._tables[f"{resource.api_version}/{resource.plural}"] = Table(self._clock, [_NAME, *printed])

    def of(self, resource: ResourceType) -> Table:
        """The table of a kind; a built-in one without columns of its own has Name and Created At."""
        key = f"{resource.api_version}/{resource.plural}"
        if key not in self._tables:
            columns = [_parsed(spec, cell) for spec, cell in COLUMNS.get(resource.key, [])]
            named = columns if resource.key == "events." else [_NAME, *columns]
            default = [_NAME, Column("Created At", created_at, "date")]
            self._tables[key] = Table(self._clock, named if columns else default)
        return self._tables[key]


_NAME = Column("Name", lambda obj, now: name_of(obj), format="name")


def _parsed(spec: str, cell: Callable[[Obj, dt.datetime], Any]) -> Column:
    """`Name`, `Name*` (wide), `Name:integer`."""
    name, _, kind = spec.removesuffix("*").partition(":")
    form = "name" if name == "Name" else ""
    return Column(name, cell, kind or "string", wide=spec.endswith("*"), format=form)


def _custom_column(column: Obj) -> Column:
    path, kind = str(column["jsonPath"]), str(column["type"])

    def cell(obj: Obj, now: dt.datetime) -> Any:
        found = jsonpath.find(path, obj)
        return _custom_cell(found, kind, now)

    return Column(
        column["name"],
        cell,
        kind,
        wide=bool(column.get("priority")),
        format=column.get("format", ""),
        description=column.get("description", f"Custom resource definition column (in JSONPath format): {path}"),
    )


def _custom_cell(found: list[Any], kind: str, now: dt.datetime) -> Any:
    """The first value found, null where there is none or it is not of the column's type."""
    if not found:
        return None
    value = found[0]
    if kind == "string":
        return _text(value)
    if kind == "date":
        return since(value, now) if isinstance(value, str) else None
    if kind == "boolean":
        return value if isinstance(value, bool) else None
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and (kind == "number" or isinstance(value, int)) else None


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value)
