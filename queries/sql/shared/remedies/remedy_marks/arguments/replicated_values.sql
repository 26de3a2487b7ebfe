-- step: Values of which a device keeps its part where an argument is divided
--   that each device holds whole: the argument, what updates compute of it as
--   a whole, without gradients also copies of it and parts in a loop, and of a
--   batch what is computed of it where no other argument is divided.
-- grain: value, subject
WITH undivided AS MATERIALIZED (
  SELECT
    u.*,
    split_part(u.dimensions, ',', 1) AS first_dimension,
    u.root || ' (' || u.shards
      || CASE WHEN u.shards = 1 THEN ' part' ELSE ' parts' END || ' for '
      || u.partitions || ' partitions)' AS subject,
    u.partitions - u.shards AS part
  FROM undivided_arguments AS u
),
temporary AS (
  SELECT
    module_id, value_id, dimensions,
    split_part(dimensions, ',', 1) AS first_dimension
  FROM arrays
  WHERE kind = 'temp'
)
SELECT
  v.module_id, v.value_id, u.subject, u.part, u.partitions AS whole
FROM described_values AS v
JOIN undivided AS u
  ON u.module_id = v.module_id
  AND u.allocation_id = v.allocation_id
UNION
SELECT
  v.module_id, v.value_id, w.root || ' (1 part for ' || w.partitions
    || ' partitions)', w.partitions - 1, w.partitions
FROM temporary AS v
JOIN whole_updates AS w
  ON w.module_id = v.module_id
  AND w.dimensions = v.dimensions
UNION
-- Gradients may stay as they are.
SELECT v.module_id, v.value_id, u.subject, u.part, u.partitions
FROM temporary AS v
JOIN undivided AS u
  ON u.module_id = v.module_id
  AND u.has_copies
  AND u.dimensions LIKE '%,%'
  AND (
    v.dimensions = u.dimensions
    OR u.dimensions = u.first_dimension || ',' || v.dimensions
    OR v.dimensions = '1' || substr(u.dimensions, strpos(u.dimensions, ','))
  )
JOIN program_traits AS t
  ON t.module_id = v.module_id
  AND NOT t.has_backward
UNION
SELECT v.module_id, v.value_id, u.subject, u.part, u.partitions
FROM temporary AS v
JOIN undivided AS u
  ON u.module_id = v.module_id
  AND u.dimensions LIKE '%,%'
  AND u.first_dimension = v.first_dimension
JOIN arguments AS a
  ON a.module_id = u.module_id
  AND a.allocation_id = u.allocation_id
  AND a.is_input
JOIN batch_sizes AS b
  ON b.module_id = v.module_id
  AND b.batch = TRY_CAST(v.first_dimension AS BIGINT)
  AND b.batch % u.partitions = 0
ANTI JOIN divided_programs AS d ON d.module_id = v.module_id
