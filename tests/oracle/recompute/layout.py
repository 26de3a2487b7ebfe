"""Recomputes the queries about layouts, padding and element types."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from tests.oracle import shapes
from tests.oracle.recompute.registry import (
    Dump,
    Row,
    of_space,
    of_value,
    op_name,
    ratio,
    recomputes,
    space_name,
)


@recomputes("padding_at_peak")
def padding_at_peak(dump: Dump) -> Iterator[Row]:
    """Sum the padding that values own at the peak, and what no value covers."""
    for space in dump.spaces:
        if not space.owners:
            continue
        padding = sum(owned.padding for owned in space.owners)
        yield {
            **of_space(space),
            "live_peak_bytes": space.peak,
            "padding_bytes": padding,
            "padding_ratio": ratio(padding, space.peak),
            "uncovered_bytes": sum(o.owned for o in space.owners if o.value is None),
            "padded_value_count": sum(o.padding > 0 for o in space.owners),
        }


@recomputes("padding_waste")
def padding_waste(dump: Dump) -> Iterator[Row]:
    """Split the padding of every value: by its tile, and by the allocator."""
    for space in dump.spaces:
        for allocation in space.allocations:
            for place in allocation.places:
                value, logical = place.value, place.value.logical_bytes
                if place.size <= logical:
                    continue
                is_array = not shapes.is_tuple(value.shape)
                shape = shapes.array(value.shape) if is_array else None
                tiled = shape.tiled_bytes if shape else None
                tile = shape.tile if shape else ()
                yield {
                    **of_space(space),
                    **of_value(value),
                    "kind": allocation.kind,
                    "logical_bytes": logical,
                    "size_bytes": place.size,
                    "padding_bytes": place.size - logical,
                    "padding_ratio": (place.size - logical) / place.size,
                    "tile_padding_bytes": None if tiled is None else tiled - logical,
                    "rounding_bytes": place.size
                    - (logical if tiled is None else tiled),
                    "tile": ",".join("*" if n is None else str(n) for n in tile)
                    or None,
                    "op_name": op_name(value.instruction),
                }


@recomputes("misaligned_dims", {"min_ratio": 0.0}, {"min_ratio": 0.5})
def misaligned_dims(dump: Dump, min_ratio: float) -> Iterator[Row]:
    """Round every dimension of a tiled array down and up to its tile."""
    counts: dict[tuple[str, int, str, str], int] = defaultdict(int)
    for space in dump.spaces:
        name = space_name(space.module.platform, space.color)
        for allocation in space.allocations:
            for value_place in allocation.places:
                text = value_place.value.shape
                if not shapes.is_tuple(text):
                    counts[space.module.program, space.color, name, text] += 1
    for (program, color, name, text), count in counts.items():
        shape = shapes.array(text)
        tiled = shape.tiled_bytes
        if None in shape.tile or not tiled:
            continue
        sizes = zip(shape.minor_sizes, reversed(shape.tile), strict=False)
        for place, (size, number) in enumerate(sizes):
            if size is None or number is None or size % number == 0:
                continue
            smaller, larger = size // number * number, -(-size // number) * number
            if (larger - size) / larger < min_ratio:
                continue
            yield {
                "program": program,
                "color": color,
                "space_name": name,
                "shape": text,
                "dimension_size": size,
                "minor_place": place,
                "tile_size": number,
                "smaller_size": smaller or None,
                "larger_size": larger,
                "value_count": count,
                "size_bytes": tiled,
                "saved_bytes": tiled - tiled * smaller // larger if smaller else 0,
                "spare_bytes": tiled * (larger - size) // larger,
                "spare_ratio": (larger - size) / larger,
            }
