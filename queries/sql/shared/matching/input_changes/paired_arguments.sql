-- step: Arguments of both sides that are paired. is_reshaped: they have other
--   dimensions, and another number of these, the same number of elements, or
--   as many in the first two, as a batch in other parts has.
-- grain: pair, argument
SELECT
  p.base_module_id AS base_id, p.candidate_module_id AS candidate_id,
  p.base_number, p.candidate_number AS candidate_number, b.argument,
  b.element_type AS base_type, c.element_type AS candidate_type,
  b.sizes AS base_sizes, c.sizes AS candidate_sizes,
  b.parts AS base_parts, c.parts AS candidate_parts,
  coalesce(c.logical_bytes - b.logical_bytes, 0) AS delta,
  b.sharding IS DISTINCT FROM c.sharding AS is_resharded,
  len(b.sizes) <> len(c.sizes)
  OR coalesce(
    NOT is_resharded
    AND (
      b.sizes <> c.sizes AND list_product(b.sizes) = list_product(c.sizes)
      OR b.sizes[1] <> c.sizes[1]
      AND b.sizes[1] * b.sizes[2] = c.sizes[1] * c.sizes[2]
    ), FALSE
  ) AS is_reshaped
FROM paired_parameters(
  base_ids := (
    SELECT list(o.base_id ORDER BY o.base_id, o.candidate_id)
    FROM asked_pairs AS o
  ),
  candidate_ids := (
    SELECT list(o.candidate_id ORDER BY o.base_id, o.candidate_id)
    FROM asked_pairs AS o
  )
) AS p
JOIN arguments AS b
  ON b.module_id = p.base_module_id
  AND b.number = p.base_number
JOIN arguments AS c
  ON c.module_id = p.candidate_module_id
  AND c.number = p.candidate_number
