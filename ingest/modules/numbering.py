"""Values by number: equal ones get one number, and a hash that holds everywhere."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from hlodb.ingest.arrow import NO_ID, Ints, Longs
from hlodb.ingest.formats.hlo_text.grammar.opcodes import ANY_NUMBER, OPERANDS
from hlodb.ingest.hashing import digest64, hash64
from hlodb.ingest.modules.identity import exact_text, graph_text
from hlodb.ingest.records import Attributes, Call

Value = TypeVar("Value", bound=Hashable)

_MANY = 50_000
"""Values whose keys are made at once, for that takes several times their memory."""


class Form(NamedTuple):
    """What an instruction says apart from its name, operands and place."""

    opcode: str
    shape: str | None
    parameter_number: int | None
    literal: str | None
    attributes: Attributes


class Numbers(dict[Value, int], Generic[Value]):
    """Values by number; a new one gets the next, and as its key a hash of its text.

    `nothing` is what has no number, but NO_ID. Keys are made when they are asked for.
    """

    def __init__(self, *nothing: Value) -> None:
        super().__init__(dict.fromkeys(nothing, NO_ID))
        self.values_by_number: list[Value] = []
        self._keys = array("q")

    def __missing__(self, value: Value) -> int:
        """Assign `value` the next number."""
        number = self[value] = len(self.values_by_number)
        self.values_by_number.append(value)
        return number

    def numbers_of(self, values: Sequence[Value]) -> Ints:
        """Return the number of each value."""
        return np.fromiter(map(self.__getitem__, values), np.int32, len(values))

    def keys_of(self, numbers: Ints) -> Longs:
        """Return the keys of values, none of which is nothing."""
        while new := self.values_by_number[len(self._keys) : len(self._keys) + _MANY]:
            digests = b"".join(map(digest64, map(repr, new)))
            self._keys.extend(np.frombuffer(digests, "<i8").tolist())
        return taken(self._keys, np.int64, numbers)


class Forms(Numbers[tuple[Any, ...]]):
    """Forms by number, with what the fingerprints see of each."""

    def __init__(self) -> None:
        super().__init__()
        self._graph_keys = array("q")
        self._exact_keys = array("q")
        self._fusions = array("b")
        self._operand_counts = array("b")

    def __missing__(self, value: tuple[Any, ...]) -> int:
        """Assign the form of these fields the next number."""
        number = super().__missing__(value)
        self._fusions.append(value[0] == "fusion")
        self._operand_counts.append(OPERANDS.get(value[0], ANY_NUMBER))
        graph, exact = _fingerprint_keys(*value[:4], value[4][2:])
        self._graph_keys.append(graph)
        self._exact_keys.append(exact)
        return number

    def graph_keys_of(self, numbers: Ints) -> Longs:
        """Return hashes of what the graph fingerprint sees of forms."""
        return taken(self._graph_keys, np.int64, numbers)

    def exact_keys_of(self, numbers: Ints) -> Longs:
        """Return hashes of what the exact fingerprint sees of forms."""
        return taken(self._exact_keys, np.int64, numbers)

    def operand_counts_of(self, numbers: Ints) -> NDArray[np.int8]:
        """Return how many operands forms have, ANY_NUMBER where that varies."""
        return taken(self._operand_counts, np.int8, numbers)

    def fusion_count(self, numbers: Ints) -> int:
        """Return the number of fusions among these forms."""
        return int(taken(self._fusions, np.int8, numbers).sum())

    def of(self, numbers: Ints) -> list[Form]:
        """Return forms by their numbers."""
        values = self.values_by_number
        return [Form(*values[number]) for number in numbers.tolist()]


@lru_cache(maxsize=1 << 16)
def _fingerprint_keys(
    opcode: str,
    shape: str | None,
    parameter_number: int | None,
    literal: str | None,
    without_names: tuple[Any, ...],
) -> tuple[int, int]:
    """Return hashes of what the fingerprints see of a form, which is not all.

    Most forms differ in `op_name` only: `without_names` are attributes but the first
    two, op_name and op_type.
    """
    attributes = Attributes(None, None, *without_names)
    graph = graph_text(opcode, shape, parameter_number, literal, attributes)
    return hash64(graph), hash64(exact_text(shape, attributes, graph))


class Calls(Numbers[tuple[Call, ...]]):
    """What instructions call, by number, as columns of one called computation each.

    `computations` are the names of all that is called.
    """

    def __init__(self, names: Numbers[str]) -> None:
        super().__init__(())
        self._computation_names = names
        self.roles: Numbers[str] = Numbers()
        self.computations: list[list[str]] = []
        self._counts = array("i")
        self._starts = array("q")
        self._columns = (array("i"), array("i"), array("i"))

    def __missing__(self, value: tuple[Call, ...]) -> int:
        """Assign these calls the next number."""
        roles, ordinals, names = self._columns
        self._starts.append(len(roles))
        for call in value:
            roles.extend([self.roles[call.role]] * len(call.computations))
            ordinals.extend(range(len(call.computations)))
            names.extend(map(self._computation_names.__getitem__, call.computations))
        self._counts.append(len(roles) - self._starts[-1])
        self.computations.append([n for call in value for n in call.computations])
        return super().__missing__(value)

    def spread(self, numbers: Ints) -> tuple[Ints, Ints, Ints, Ints]:
        """Return the total of each call and everything it calls, end to end.

        Of each called computation the number of its role, its place in the role, and
        the number of its name.
        """
        counts = taken(self._counts, np.int32, numbers)
        at = spread(taken(self._starts, np.int64, numbers), counts)
        roles, ordinals, names = (taken(c, np.int32, at) for c in self._columns)
        return counts, roles, ordinals, names


def spread(starts: Longs, counts: Ints) -> Longs:
    """Return the places start, start + 1 … of each run, end to end."""
    before = np.cumsum(counts) - counts
    return np.repeat(starts - before, counts) + np.arange(int(counts.sum()))


def taken(column: array[Any], kind: type[Any], at: NDArray[Any]) -> NDArray[Any]:
    """Return the values of a column at given places."""
    return np.frombuffer(column, kind)[at] if len(at) else np.empty(0, kind)
