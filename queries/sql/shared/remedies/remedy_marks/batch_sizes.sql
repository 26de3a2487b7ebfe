-- step: The batch of each program: the first dimension of its inputs, of
--   those of integers if there are any. None where inputs differ in it, where
--   it is their second one, too, as of pairs of residues, or where all that is
--   replaced has it: a grid or a cloud of points.
-- grain: program
WITH replaced AS MATERIALIZED (
  SELECT
    a.module_id,
    list(DISTINCT TRY_CAST(split_part(a.dimensions, ',', 1) AS BIGINT))
      AS first_dimensions
  FROM arguments AS a
  WHERE a.is_replaced
    AND a.dimensions <> ''
  GROUP BY a.module_id
),
inputs AS (
  SELECT
    a.module_id, a.element_type,
    split_part(a.dimensions, ',', 1) = split_part(a.dimensions, ',', 2)
      AS is_square,
    TRY_CAST(split_part(a.dimensions, ',', 1) AS BIGINT) AS first_dimension
  FROM arguments AS a
  WHERE a.has_examples
),
counted AS (
  SELECT
    module_id, regexp_matches(element_type, '^[su][0-9]') AS is_index,
    min(first_dimension) AS batch,
    CASE WHEN bool_and(is_square) THEN NULL
      ELSE count(DISTINCT first_dimension) END AS sizes
  FROM inputs
  GROUP BY module_id, is_index
)
SELECT c.module_id, arg_max(c.batch, c.is_index) AS batch
FROM counted AS c
LEFT JOIN replaced AS r ON r.module_id = c.module_id
GROUP BY c.module_id
HAVING arg_max(c.sizes, c.is_index) = 1
  AND arg_max(c.batch, c.is_index) > 1
  AND any_value(r.first_dimensions) IS DISTINCT FROM
    [arg_max(c.batch, c.is_index)]
