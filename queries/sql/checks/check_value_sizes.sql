-- title: Values have room for their shape
-- question: Which values have fewer bytes than their shape needs?
-- definition: size_bytes >= logical_bytes for arrays: padding only adds. If
--   the layout splits an array among the cores of a chip,
--   SC(dimension:index,...), the largest piece counts. Tables of pointers of
--   tuples are left out, as their size depends on the backend.
-- grain: fault
-- param run VARCHAR = NULL of runs.name: Only modules of this run; NULL for
--   all.
-- column module_id
-- column place VARCHAR text neutral: Affected part of the module.
-- column expected BIGINT count neutral: Expected value.
-- column found BIGINT count neutral: Value found.
WITH doubtful AS MATERIALIZED (
  SELECT d.module_id FROM suspect_values() AS d
),
places AS (
  SELECT p.module_id, p.value_id, p.size_bytes
  FROM allocation_values AS p
  WHERE p.module_id IN (SELECT module_id FROM doubtful)
),
tight AS MATERIALIZED (
  SELECT v.module_id, v.value_id, v.shape, v.logical_bytes, p.size_bytes
  FROM checked_modules() AS m
  JOIN doubtful AS d USING (module_id)
  JOIN store."values" AS v USING (module_id)
  JOIN places AS p USING (module_id, value_id)
  WHERE p.size_bytes < v.logical_bytes
    AND v.shape NOT LIKE '(%'
),
split AS (
  SELECT
    *,
    TRY_CAST(string_split(regexp_extract(shape, '\[([0-9,]+)\]', 1), ',')[
      TRY_CAST(regexp_extract(shape, 'SC\(([0-9]+):', 1) AS BIGINT) + 1
    ] AS BIGINT) AS whole,
    regexp_extract(shape, 'SC\([0-9]+:([0-9,]+)\)', 1) AS indices
  FROM tight
),
pieces AS (
  -- Where the dimension is cut: at its ends and at the indices.
  SELECT
    *,
    CASE WHEN indices <> '' AND whole > 0 THEN TRY_CAST(
      '[0,' || indices || ',' || whole || ']' AS BIGINT[]
    ) END AS cuts
  FROM split
),
needed AS (
  SELECT
    *,
    coalesce(CAST(logical_bytes AS HUGEINT) // whole * list_max(list_transform(
      range(1, len(cuts)), lambda i: cuts[i + 1] - cuts[i]
    )), logical_bytes) AS needed_bytes
  FROM pieces
)
SELECT
  module_id, 'value ' || value_id || ' of ' || shape AS place,
  CAST(needed_bytes AS BIGINT) AS expected, size_bytes AS found
FROM needed
WHERE size_bytes < needed_bytes
