-- title: Entry parameters of pairs of modules
-- question: Which arguments of two modules correspond to each other?
-- definition: Each parameter once. First by op_name, if it is unique in both
--   modules, because an additional argument renumbers those after it, and so
--   does a part that was put in before others (Block_0, Block_1), which go
--   together by their dimensions; then by all of it but a part that was put
--   in or taken out, or that has a longer name (CheckpointBlock_0 for
--   Block_0), with the shape, or the former with all but its element type, if
--   both are unique; then by its end, from the
--   last attribute on (.mu['w']), and the shape, the n-th where both have as
--   many, or all but its element type, if both are unique: another
--   transformation may be around an optimiser, and its moments of another
--   type; then by number, if op_names are equal, one of them is missing, or
--   the dimensions are equal and both modules have as many parameters, as for
--   a renamed argument. Others are new or gone, and have no row.
-- grain: pair of modules, parameter
-- steps: asked_pairs, named_parameters, numbered_parameters, numbered_parts,
--   renumbered_parts, pairs_by_name, unpaired_parameters, pairs_by_path
-- param base_ids BIGINT[] = NULL: Module contents of the base.
-- param candidate_ids BIGINT[] = NULL: Those of the candidate, in the same
--   order; pairs that lack one of both have no row.
-- column base_module_id BIGINT id neutral: Content of the module in the base.
-- column candidate_module_id BIGINT id neutral: Content of the module in the
--   candidate.
-- column base_number INTEGER id neutral: The entry parameter in the base.
-- column candidate_number INTEGER id neutral: The same in the candidate.
-- column base_instruction VARCHAR name neutral: Its instruction in the base.
-- column instruction VARCHAR name neutral: The same in the candidate.
WITH renamed AS MATERIALIZED (
  SELECT u.*
  FROM unpaired_parameters AS u
  ANTI JOIN pairs_by_path AS d
    ON d.base_id = u.base_id
    AND d.own_id = u.own_id
    AND CASE WHEN u.is_own THEN d.own_number ELSE d.base_number END
      = u.parameter_number
),
by_ending AS MATERIALIZED (
  SELECT DISTINCT
    base_id, own_id, unnest(base_side).number AS base_number,
    unnest(own_side).number AS own_number,
    unnest(base_side).name AS base_name, unnest(own_side).name AS own_name
  FROM (
    SELECT
      base_id, own_id,
      list({'number': parameter_number, 'name': name}
        ORDER BY parameter_number) FILTER (WHERE NOT is_own) AS base_side,
      list({'number': parameter_number, 'name': name}
        ORDER BY parameter_number) FILTER (WHERE is_own) AS own_side
    FROM (
      SELECT
        u.* REPLACE (
          CASE WHEN t.has_type THEN u.dimensions ELSE u.sizes END AS dimensions
        ), t.has_type
      FROM renamed AS u
      CROSS JOIN (SELECT unnest([TRUE, FALSE]) AS has_type) AS t
    )
    WHERE ending <> ''
    GROUP BY base_id, own_id, ending, dimensions, has_type
    HAVING len(base_side) = len(own_side)
      AND (has_type OR len(own_side) = 1)
  )
),
by_number AS (
  SELECT
    b.base_id, b.own_id, b.parameter_number AS base_number,
    c.parameter_number AS own_number, b.name AS base_name, c.name AS own_name
  FROM renamed AS b
  JOIN renamed AS c USING (base_id, own_id, parameter_number)
  ANTI JOIN by_ending AS d
    ON d.base_id = b.base_id
    AND d.own_id = b.own_id
    AND d.base_number = b.parameter_number
  ANTI JOIN by_ending AS e
    ON e.base_id = c.base_id
    AND e.own_id = c.own_id
    AND e.own_number = c.parameter_number
  WHERE NOT b.is_own
    AND c.is_own
    AND (
      coalesce(b.argument = c.argument, TRUE)
      OR b.dimensions = c.dimensions
      AND b.parameter_count = c.parameter_count
    )
)
SELECT
  m.base_id AS base_module_id, m.own_id AS candidate_module_id,
  m.base_number, m.own_number AS candidate_number,
  m.base_name AS base_instruction, m.own_name AS instruction
FROM (
  FROM pairs_by_name
  UNION ALL
  FROM pairs_by_path
  UNION ALL
  FROM by_ending
  UNION ALL
  FROM by_number
) AS m
