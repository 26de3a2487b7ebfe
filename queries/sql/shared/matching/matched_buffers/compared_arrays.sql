-- step: The buffers of both sides, with element type and dimensions taken from
--   the shape. What has no framework path has the name of its instruction,
--   without the number by which XLA tells such instructions apart, as has what
--   XLA copies or wraps (plain_name), or a path that ends with such a number
--   (plain_path). ending: of the framework path of a parameter, from its last
--   attribute on.
-- grain: pair, side, buffer
SELECT
  t.*,
  CASE
    WHEN t.parameter IS NULL
      THEN regexp_replace(t.op_path, '(/[a-z_]\w*)\.\d+$', '\1')
    ELSE t.op_path
  END AS plain_path,
  regexp_replace(t.instruction, '(\.\d+)+$', '') AS unnumbered,
  coalesce(plain_path, unnumbered) AS path_or_name,
  CASE
    WHEN t.opcode LIKE 'copy%' OR t.instruction LIKE 'wrapped%'
      THEN unnumbered
    ELSE t.instruction
  END AS plain_name,
  CASE
    WHEN t.parameter IS NOT NULL THEN coalesce(
      nullif(regexp_extract(t.op_path, '(\.\w+[^.]*?)(\.value)?$', 1), ''),
      t.op_path
    )
  END AS ending,
  CASE
    WHEN t.array_type LIKE '(%' THEN NULL
    ELSE nullif(regexp_extract(t.array_type, '^([a-z]\w*)\[', 1), '')
  END AS element_type,
  CASE
    WHEN t.array_type LIKE '(%' OR t.array_type LIKE '%[]' THEN NULL
    ELSE string_split(
      regexp_extract(t.array_type, '\[([^\]]*)\]$', 1), ','
    )
  END AS dimensions
FROM compared_buffers(
  base_ids := (
    SELECT list(p.base_id ORDER BY p.pair) FROM asked_pairs AS p
  ),
  candidate_ids := (
    SELECT list(p.candidate_id ORDER BY p.pair) FROM asked_pairs AS p
  ),
  base_arenas := (
    SELECT list(p.base_arena ORDER BY p.pair) FROM asked_pairs AS p
  ),
  candidate_arenas := (
    SELECT list(p.candidate_arena ORDER BY p.pair) FROM asked_pairs AS p
  )
) AS t
