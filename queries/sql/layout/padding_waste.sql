-- title: Padding per value
-- question: Which values waste the most memory to tiling and alignment?
-- definition: Size in memory minus logical size of every value.
--   tile_padding_bytes is the part from rounding dimensions up to the tile;
--   rounding_bytes is the rest, from the allocator. Values at the same place
--   in the same allocation have a row each.
-- grain: module occurrence, value
-- leading: program, space_name, instruction, padding_bytes, padding_ratio,
--   size_bytes, logical_bytes, shape
-- param run
-- param program
-- param color
-- param top
-- column run
-- column program
-- column module_number
-- column rank
-- column color
-- column space_name
-- column instruction
-- column shape_index
-- column shape
-- column kind
-- column logical_bytes
-- column size_bytes
-- column padding_bytes BIGINT bytes lower_is_better: size_bytes minus
--   logical_bytes.
-- column padding_ratio DOUBLE ratio lower_is_better: Its share of size_bytes.
-- column tile_padding_bytes BIGINT bytes lower_is_better: Part that comes from
--   tiling.
-- column rounding_bytes BIGINT bytes lower_is_better: Part that comes from the
--   allocator.
-- column tile VARCHAR text neutral: First tile of the layout.
-- column op_name
SELECT
  m.run, m.program, m.module_number, m.rank, m.color, m.space_name,
  v.instruction, v.shape_index, v.shape, v.kind, v.logical_bytes, v.size_bytes,
  v.size_bytes - v.logical_bytes AS padding_bytes,
  (v.size_bytes - v.logical_bytes) / nullif(v.size_bytes, 0) AS padding_ratio,
  t.tiled_bytes - v.logical_bytes AS tile_padding_bytes,
  v.size_bytes - coalesce(t.tiled_bytes, v.logical_bytes) AS rounding_bytes,
  t.tile, i.op_name
FROM selected_memory() AS m
JOIN placed_values() AS v
  USING (module_id, color)
LEFT JOIN array_shapes() AS t
  ON t.shape = v.shape
  AND t.logical_bytes = v.logical_bytes
LEFT JOIN selected_instructions() AS i
  ON i.module_id = v.module_id
  AND i.instruction_id = v.instruction_id
WHERE v.size_bytes > v.logical_bytes
ORDER BY
  padding_bytes DESC, m.program, m.module_number, m.rank, v.value_id
LIMIT $top
