-- title: References to instructions and computations that are not there
-- question: Which rows name an instruction or a computation that their module
--   does not have?
-- definition: A row for each reference. Where the numbers of a module's
--   instructions (or computations) have neither gaps nor repetitions, and all
--   that refers to them lies between the least and the greatest, nothing
--   dangles: only references of other modules are looked up one by one. NULL
--   refers to nothing.
-- grain: reference
-- needs: doubtful_keys, instruction_spans, operands, called_computations,
--   values, value_positions, value_uses, schedule, live_ranges, computations,
--   instructions
-- column referrer VARCHAR name neutral: table.column that refers.
-- column place VARCHAR text neutral: What lacks what.
-- column module_id
WITH computation_spans AS (
  SELECT
    module_id, min(computation_id) AS least_id,
    max(computation_id) AS greatest_id
  FROM computations
  GROUP BY module_id
  HAVING count(*) = max(computation_id) - min(computation_id) + 1
),
gapless AS (
  SELECT
    'instructions' AS target, i.module_id, i.least_id, i.greatest_id
  FROM instruction_spans() AS i
  UNION ALL
  SELECT 'computations', c.module_id, c.least_id, c.greatest_id
  FROM computation_spans AS c
  ANTI JOIN (
    SELECT owner_id FROM doubtful_keys() WHERE table_name = 'computations'
  ) AS d ON d.owner_id = c.module_id
),
referred AS (
  SELECT
    'instructions' AS target, module_id, min(instruction_id) AS least_id,
    max(instruction_id) AS greatest_id
  FROM operands
  GROUP BY module_id
  UNION ALL
  SELECT
    'instructions', module_id, min(operand_id),
    max(operand_id)
  FROM operands
  GROUP BY module_id
  UNION ALL
  SELECT
    'instructions', module_id, min(instruction_id),
    max(instruction_id)
  FROM called_computations
  GROUP BY module_id
  UNION ALL
  SELECT
    'instructions', module_id, min(instruction_id),
    max(instruction_id)
  FROM store."values"
  GROUP BY module_id
  UNION ALL
  SELECT
    'instructions', module_id, min(instruction_id),
    max(instruction_id)
  FROM store.value_positions
  GROUP BY module_id
  UNION ALL
  SELECT
    'instructions', module_id, min(instruction_id),
    max(instruction_id)
  FROM store.value_uses
  GROUP BY module_id
  UNION ALL
  SELECT
    'instructions', module_id, min(instruction_id),
    max(instruction_id)
  FROM store.schedule
  GROUP BY module_id
  UNION ALL
  SELECT
    'instructions', module_id, min(instruction_id),
    max(instruction_id)
  FROM store.live_ranges
  GROUP BY module_id
  UNION ALL
  SELECT
    'instructions', module_id, min(root_instruction_id),
    max(root_instruction_id)
  FROM computations
  GROUP BY module_id
  UNION ALL
  SELECT
    'computations', module_id, min(computation_id),
    max(computation_id)
  FROM store.instructions
  GROUP BY module_id
  UNION ALL
  SELECT
    'computations', module_id, min(computation_id),
    max(computation_id)
  FROM called_computations
  GROUP BY module_id
),
doubtful AS MATERIALIZED (
  SELECT DISTINCT r.target, r.module_id
  FROM referred AS r
  LEFT JOIN gapless AS g USING (target, module_id)
  WHERE r.least_id < coalesce(g.least_id, r.least_id + 1)
    OR r.greatest_id > g.greatest_id
),
known_instructions AS (
  SELECT k.module_id, k.instruction_id
  FROM store.instructions AS k
  SEMI JOIN doubtful AS d
    ON d.target = 'instructions'
    AND d.module_id = k.module_id
),
known_computations AS (
  SELECT k.module_id, k.computation_id
  FROM computations AS k
  SEMI JOIN doubtful AS d
    ON d.target = 'computations'
    AND d.module_id = k.module_id
),
references_to_instructions AS (
  SELECT
    'operands.instruction_id' AS referrer,
    'operands without an instruction' AS place,
    module_id, instruction_id AS id
  FROM operands
  WHERE instruction_id IS NOT NULL
  UNION ALL
  SELECT
    'operands.operand_id', 'operands without an instruction',
    module_id, operand_id
  FROM operands
  WHERE operand_id IS NOT NULL
  UNION ALL
  SELECT
    'called_computations.instruction_id',
    'called_computations without an instruction',
    module_id, instruction_id
  FROM called_computations
  WHERE instruction_id IS NOT NULL
  UNION ALL
  SELECT
    'values.instruction_id', 'values without an instruction',
    module_id, instruction_id
  FROM store."values"
  WHERE instruction_id IS NOT NULL
  UNION ALL
  SELECT
    'value_positions.instruction_id', 'value_positions without an instruction',
    module_id, instruction_id
  FROM store.value_positions
  WHERE instruction_id IS NOT NULL
  UNION ALL
  SELECT
    'value_uses.instruction_id', 'value_uses without an instruction',
    module_id, instruction_id
  FROM store.value_uses
  WHERE instruction_id IS NOT NULL
  UNION ALL
  SELECT
    'schedule.instruction_id', 'schedule without an instruction',
    module_id, instruction_id
  FROM store.schedule
  WHERE instruction_id IS NOT NULL
  UNION ALL
  SELECT
    'live_ranges.instruction_id', 'live_ranges without an instruction',
    module_id, instruction_id
  FROM store.live_ranges
  WHERE instruction_id IS NOT NULL
  UNION ALL
  SELECT
    'computations.root_instruction_id', 'computations without a root',
    module_id, root_instruction_id
  FROM computations
  WHERE root_instruction_id IS NOT NULL
),
references_to_computations AS (
  SELECT
    'instructions.computation_id' AS referrer,
    'instructions without a computation' AS place,
    module_id, computation_id AS id
  FROM store.instructions
  WHERE computation_id IS NOT NULL
  UNION ALL
  SELECT
    'called_computations.computation_id',
    'called_computations without a computation',
    module_id, computation_id
  FROM called_computations
  WHERE computation_id IS NOT NULL
)
SELECT r.referrer, r.place, r.module_id
FROM references_to_instructions AS r
SEMI JOIN doubtful AS d
  ON d.target = 'instructions'
  AND d.module_id = r.module_id
ANTI JOIN known_instructions AS k
  ON k.module_id = r.module_id
  AND k.instruction_id = r.id
UNION ALL
SELECT r.referrer, r.place, r.module_id
FROM references_to_computations AS r
SEMI JOIN doubtful AS d
  ON d.target = 'computations'
  AND d.module_id = r.module_id
ANTI JOIN known_computations AS k
  ON k.module_id = r.module_id
  AND k.computation_id = r.id
