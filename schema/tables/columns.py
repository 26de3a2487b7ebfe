"""What tables are made of: their two schemas, kinds of columns, keys they share."""

from __future__ import annotations

from typing import Literal, NamedTuple

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    Integer,
    MetaData,
    Table,
    Text,
)

PUBLIC = MetaData()
STORE = MetaData(schema="store")

Columns = list[Column[object]]


def bigint(name: str, comment: str) -> Column[object]:
    """Return a column of 64-bit integers."""
    return Column(name, BigInteger, comment=comment, autoincrement=False)


def integer(name: str, comment: str) -> Column[object]:
    """Return a column of 32-bit integers."""
    return Column(name, Integer, comment=comment, autoincrement=False)


def text(name: str, comment: str) -> Column[object]:
    """Return a column of texts."""
    return Column(name, Text, comment=comment)


def boolean(name: str, comment: str) -> Column[object]:
    """Return a column of truth values."""
    return Column(name, Boolean, comment=comment)


def double(name: str, comment: str) -> Column[object]:
    """Return a column of shares or seconds."""
    return Column(name, Double, comment=comment)


def run_id() -> Column[object]:
    """Return the key of runs."""
    return bigint("run_id", "The run, see runs.")


def module_id() -> Column[object]:
    """Return the key of modules."""
    return bigint(
        "module_id",
        "Surrogate key of a module snapshot's content: the first 64 bits of a"
        " BLAKE2b hash of its texts, without source locations and pointers.",
    )


def locations_id() -> Column[object]:
    """Return the key of a module's source locations."""
    return bigint(
        "locations_id",
        "Surrogate key of a module's source locations: 64 bits of a BLAKE2b hash.",
    )


def instruction_id(what: str = "The instruction") -> Column[object]:
    """Return the key of an instruction in its module; `what` says which one."""
    return integer("instruction_id", f"{what}: its number in order of appearance.")


class Reference(NamedTuple):
    """Columns that name a row of another table, by its `targets` (else of equal name).

    The last column is NULL where a row names none. `lacks` is what the row is without
    if that row is missing, such as "a value", in `hlodb check`; None leaves the
    reference to the query referential_integrity.
    """

    columns: tuple[str, ...]
    table: str
    targets: tuple[str, ...] = ()
    lacks: str | None = None


def to_run() -> Reference:
    """Return the reference of a table of runs."""
    return Reference(("run_id",), "runs", lacks="a run")


def to_module() -> Reference:
    """Return the reference of a table of module contents."""
    return Reference(("module_id",), "modules", lacks="a module")


def to_instruction(
    column: str = "instruction_id", lacks: str = "an instruction"
) -> Reference:
    """Return the reference to an instruction of the same module."""
    targets = ("module_id", "instruction_id")
    return Reference(("module_id", column), "instructions", targets, lacks)


def to_computation() -> Reference:
    """Return the reference to a computation of the same module."""
    columns = ("module_id", "computation_id")
    return Reference(columns, "computations", lacks="a computation")


def to_value() -> Reference:
    """Return the reference to a value of the same module."""
    return Reference(("module_id", "value_id"), "values", lacks="a value")


Key = tuple[str, ...]
Proof = Literal["", "order", "own"]
"""How suspect_keys proves cheaply that a key is unique: "order", rows are stored in
its order; "own", by SQL of its own. Other tables are small enough to group."""


def public(
    name: str,
    comment: str,
    *columns: Column[object],
    key: Key = (),
    unique: tuple[Key, ...] = (),
    proof: Proof = "",
    references: tuple[Reference, ...] = (),
    view: bool = False,
) -> Table:
    """Declare a table that people query; `view`: it is a view of stored ones."""
    info = {
        "keys": (key, *unique) if key else (),
        "proof": proof,
        "references": references,
        "view": view,
    }
    return Table(name, PUBLIC, *columns, comment=comment, info=info)


def stored(
    name: str,
    comment: str,
    *columns: Column[object],
    key: Key = (),
    unique: tuple[Key, ...] = (),
    proof: Proof = "",
    references: tuple[Reference, ...] = (),
    shown_as: str | None = None,
) -> Table:
    """Declare a table of the tighter form; checks of references say `shown_as`."""
    info = {
        "keys": (key, *unique) if key else (),
        "proof": proof,
        "references": references,
        "shown_as": shown_as or name,
    }
    return Table(name, STORE, *columns, comment=comment, info=info)


def columns_of(table: Table, *left_out: str) -> Columns:
    """Return columns like those of `table`, for the stored form behind it."""
    return [
        Column(column.name, column.type, comment=column.comment, autoincrement=False)
        for column in table.columns
        if column.name not in left_out
    ]


def form_columns() -> Columns:
    """Return the columns of what an instruction says."""
    return [
        text(
            "opcode",
            "Operation, such as fusion or dot; NULL where only the name is known.",
        ),
        text("shape", "Shape of the result with layout, as printed."),
        text("element_type", "Element type of an array, or tuple."),
        bigint(
            "logical_bytes",
            "Elements times element width, without padding; a tuple counts its"
            " pointer table only (bytes).",
        ),
        text("layout", "Layout of an array, as printed between braces."),
        integer("color", "Memory space S(n) of the layout; 0 where none is printed."),
        integer("parameter_number", "Number of a parameter."),
        text("op_name", "Framework path, from the metadata."),
        text("op_type", "Framework operation, from the metadata."),
        text("sharding", "Sharding as printed."),
        text("fusion_kind", "kLoop, kInput, kOutput or kCustom."),
        text("custom_call_target", "Target of a custom call."),
        bigint("channel_id", "Channel of a collective."),
        text("replica_groups", "Replica groups as printed."),
        text(
            "backend_config",
            "Backend configuration as printed, unescaped. Strings over 1,024"
            " characters, such as kernels, are replaced by their beginning, length"
            " and digest.",
        ),
        text(
            "literal",
            "Value of a constant as printed, whitespace folded. Values over 256"
            " characters are replaced by their beginning, length and digest.",
        ),
        text(
            "attributes",
            "All other attributes, as printed, in order; long strings are shortened"
            " in the same way.",
        ),
    ]
