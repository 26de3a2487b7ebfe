"""Values by number: equal ones get one number, and a hash that holds everywhere."""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable, Sequence
from functools import lru_cache
from itertools import compress, count, pairwise
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from hlodb.ingest.arrow import NO_ID, Ints, Longs
from hlodb.ingest.formats.hlo_text.grammar.opcodes import ANY_NUMBER, OPERANDS
from hlodb.ingest.hashing import digest64, hash64
from hlodb.ingest.modules.identity import exact_text, graph_text
from hlodb.ingest.records import Attributes, Call, PackedTexts

Value = TypeVar("Value", bound=Hashable)

_MANY = 50_000
"""Values whose keys are made at once, for that takes several times their memory."""

_MOST_NAMES = 1 << 17
"""Names that are held as a dictionary, which takes ten times their memory."""

_MOST_CALLS = 1 << 15
"""Calls that are held as a dictionary; equal ones mostly follow soon."""


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
        self._next = count()
        self._keys = array("q")

    def __missing__(self, value: Value) -> int:
        """Assign `value` the next number."""
        number = self[value] = next(self._next)
        self.values_by_number.append(value)
        return number

    def numbers_of(self, values: Sequence[Value]) -> Ints:
        """Return the number of each value."""
        return np.fromiter(map(self.__getitem__, values), np.int32, len(values))

    def keys_of(self, numbers: Ints) -> Longs:
        """Return the keys of values, none of which is nothing."""
        self._make_keys()
        return taken(self._keys, np.int64, numbers)

    def _make_keys(self) -> None:
        while new := self.values_by_number[len(self._keys) : len(self._keys) + _MANY]:
            self._keys.frombytes(_keys_of(new).tobytes())


def _keys_of(values: Iterable[Any]) -> Longs:
    """Return a hash of what each value prints."""
    digests = b"".join(map(digest64, map(repr, values)))
    return np.frombuffer(digests, "<i8").astype(np.int64)


class Names(Numbers[str]):
    """Names by number. Where they are many, they are packed and found by their keys.

    The dictionary then holds those that were met since.
    """

    values_by_number: PackedTexts  # type: ignore[assignment]

    def __init__(self) -> None:
        super().__init__()
        self.values_by_number = PackedTexts()
        self._packed_keys = np.empty(0, np.int64)
        self._packed_numbers = np.empty(0, np.int32)

    def __missing__(self, name: str) -> int:
        """Return the number of a packed name, or assign `name` the next number."""
        if self.values_by_number.packed:
            key = hash64(repr(name))
            at = int(self._packed_keys.searchsorted(key))
            if at < len(self._packed_keys) and self._packed_keys[at] == key:
                number = self[name] = int(self._packed_numbers[at])
                return number
        number = self[name] = next(self._next)
        self.values_by_number.append(name)
        return number

    def numbers_of(self, values: Sequence[str]) -> Ints:
        """Return the number of each name."""
        if len(self) > _MOST_NAMES:
            self._pack()
        if self.values_by_number.packed:
            if len(values) > _MOST_NAMES:
                parts = range(0, len(values), _MANY)
                found = [self.numbers_of(values[at : at + _MANY]) for at in parts]
                return np.concatenate(found)
            new = [name for name in dict.fromkeys(values) if name not in self]
            for name in self._recall(new):
                super().__missing__(name)
        return super().numbers_of(values)

    def _pack(self) -> None:
        """Pack all names, and sort their keys."""
        self._make_keys()
        first = self.values_by_number.packed
        self.values_by_number.pack()
        stop = self.values_by_number.packed
        self.clear()
        rest = self.values_by_number[stop:]
        self.update(zip(rest, range(stop, stop + len(rest)), strict=True))
        keys = np.concatenate([self._packed_keys, np.array(self._keys[first:stop])])
        more = np.arange(first, stop, dtype=np.int32)
        order = np.argsort(keys)
        self._packed_keys = keys[order]
        self._packed_numbers = np.concatenate([self._packed_numbers, more])[order]

    def _recall(self, names: Sequence[str]) -> list[str]:
        """Put those of `names` that are packed into the dictionary; give the others."""
        keys = _keys_of(names)
        at = np.searchsorted(self._packed_keys, keys)
        at = np.minimum(at, len(self._packed_keys) - 1)
        numbers = self._packed_numbers[at].tolist()
        is_packed = (self._packed_keys[at] == keys).tolist()
        self.update(compress(zip(names, numbers, strict=True), is_packed))
        return [name for name, known in zip(names, is_packed, strict=True) if not known]


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


class Calls(dict[tuple[Call, ...], int]):
    """What instructions call, by number, as columns of one called computation each.

    Calls that were met long ago may get another number; their key stays the same.
    """

    def __init__(self, names: Names) -> None:
        super().__init__({(): NO_ID})
        self.names = names
        self.roles: Numbers[str] = Numbers()
        self._keys = array("q")
        self._counts = array("i")
        self._starts = array("q")
        self._columns = (array("i"), array("i"), array("i"))
        self._without_names: dict[int, tuple[Call, ...]] = {}

    def __missing__(self, value: tuple[Call, ...]) -> int:
        """Assign these calls the next number."""
        if len(self) > _MOST_CALLS:
            self.clear()
            self[()] = NO_ID
        roles, ordinals, names = self._columns
        number = self[value] = len(self._counts)
        self._keys.append(hash64(repr(value)))
        self._starts.append(len(roles))
        for call in value:
            roles.extend([self.roles[call.role]] * len(call.computations))
            ordinals.extend(range(len(call.computations)))
            names.extend(map(self.names.__getitem__, call.computations))
        self._counts.append(len(roles) - self._starts[-1])
        if not all(call.computations for call in value):
            self._without_names[number] = value
        return number

    def numbers_of(self, values: Sequence[tuple[Call, ...]]) -> Ints:
        """Return the number of each value, NO_ID for no calls."""
        return np.fromiter(map(self.__getitem__, values), np.int32, len(values))

    def keys_of(self, numbers: Ints) -> Longs:
        """Return a hash of each, none of which is NO_ID."""
        return taken(self._keys, np.int64, numbers)

    def of(self, number: int) -> tuple[Call, ...]:
        """Return the calls of this number."""
        if number == NO_ID:
            return ()
        if number in self._without_names:
            return self._without_names[number]
        start = self._starts[number]
        part = slice(start, start + self._counts[number])
        roles, ordinals, names = (column[part] for column in self._columns)
        texts = [self.names.values_by_number[name] for name in names]
        starts = [at for at, ordinal in enumerate(ordinals) if not ordinal]
        return tuple(
            Call(self.roles.values_by_number[roles[at]], tuple(texts[at:end]))
            for at, end in pairwise([*starts, len(texts)])
        )

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
