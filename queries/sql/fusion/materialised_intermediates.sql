-- title: Intermediates left in memory
-- question: Which large temporary values were not fused away, and what stopped
--   the fusion?
-- definition: Temporary arrays of at least min_bytes that exactly one
--   scheduled instruction reads, where that reader could be part of a loop
--   fusion (an element-wise operation, broadcast, reshape, transpose, slice,
--   reduce, or a fusion of kind loop or input). blocker is the first that
--   applies to the producer: multi_output (several results), custom_call, dot
--   or convolution, reduce or sort, collective or copy, layout (operand and
--   result differ in layout only); else unknown. leverage_bytes as in
--   peak_leverage.
-- grain: module occurrence, value
-- leading: program, space_name, instruction, size_bytes, leverage_bytes,
--   blocker, reader, shape
-- param run
-- param program
-- param color
-- param min_bytes BIGINT = 1024 from 0: Only values of at least this size.
-- param top
-- column run
-- column program
-- column module_number
-- column rank
-- column color
-- column space_name
-- column instruction VARCHAR name neutral: The producer.
-- column shape_index
-- column opcode VARCHAR name neutral: Operation of the producer.
-- column reader VARCHAR name neutral: The only reader.
-- column reader_opcode VARCHAR name neutral: Its operation.
-- column blocker VARCHAR name neutral: Probable reason why it was not fused.
-- column shape
-- column size_bytes BIGINT bytes lower_is_better: Size in memory.
-- column leverage_bytes BIGINT bytes higher_is_better: Possible fall of the
--   live peak.
-- column op_name
WITH tenants AS (
  SELECT *
  FROM placed_values()
  WHERE kind = 'temp'
    AND start_step IS NOT NULL
    AND size_bytes >= $min_bytes
    AND shape NOT LIKE '(%'
),
instructions_there AS MATERIALIZED (
  SELECT
    i.module_id, i.instruction_id, i.name, f.opcode, f.op_name,
    f.element_type, f.fusion_kind
  FROM (
    SELECT DISTINCT module_id
    FROM selected_memory()
  ) AS m
  JOIN store.instructions AS i USING (module_id)
  JOIN store.instruction_forms AS f USING (form_id)
),
readers AS (
  SELECT
    t.module_id, t.value_id, min(u.instruction_id) AS reader_id,
    count(DISTINCT u.instruction_id) AS reader_count
  FROM tenants AS t
  JOIN store.value_uses AS u USING (module_id, value_id)
  JOIN instructions_there AS i
    ON i.module_id = u.module_id
    AND i.instruction_id = u.instruction_id
  WHERE i.opcode NOT IN ('tuple', 'get-tuple-element', 'bitcast')
  GROUP BY t.module_id, t.value_id
),
made AS MATERIALIZED (
  -- Fixed, lest producers and readers are paired before either meets a value.
  SELECT
    t.*, r.reader_id, p.opcode, p.op_name, p.element_type AS producer_type
  FROM tenants AS t
  JOIN readers AS r USING (module_id, value_id)
  JOIN instructions_there AS p USING (module_id, instruction_id)
  WHERE r.reader_count = 1
    AND p.opcode NOT IN ('parameter', 'constant', 'while', 'conditional')
),
single AS (
  SELECT m.*, i.name AS reader, i.opcode AS reader_opcode
  FROM made AS m
  JOIN instructions_there AS i
    ON i.module_id = m.module_id
    AND i.instruction_id = m.reader_id
  WHERE (i.opcode = 'fusion' AND i.fusion_kind IN ('kLoop', 'kInput'))
    OR i.opcode IN (
      'abs', 'add', 'and', 'broadcast', 'ceil', 'clamp', 'compare', 'convert',
      'cosine', 'divide', 'dynamic-slice', 'exponential', 'floor', 'log',
      'logistic', 'maximum', 'minimum', 'multiply', 'negate', 'not', 'or',
      'pad', 'power', 'reduce', 'reshape', 'reverse', 'rsqrt', 'select',
      'sign', 'sine', 'slice', 'sqrt', 'subtract', 'tanh', 'transpose', 'xor'
    )
)
SELECT
  m.run, m.program, m.module_number, m.rank, m.color, m.space_name,
  s.instruction, s.shape_index, s.opcode, s.reader, s.reader_opcode,
  CASE
    WHEN s.producer_type = 'tuple' THEN 'multi_output'
    WHEN s.opcode = 'custom-call' THEN 'custom_call'
    WHEN s.opcode IN ('dot', 'convolution') THEN 'dot'
    WHEN s.opcode IN ('reduce', 'reduce-window', 'sort', 'scatter', 'gather',
      'topk')
    THEN 'reduce'
    WHEN regexp_matches(s.opcode, 'all-|reduce-scatter|collective|copy|async')
    THEN 'collective_or_copy'
    WHEN s.opcode = 'transpose' OR s.reader_opcode = 'transpose' THEN 'layout'
    ELSE 'unknown'
  END AS blocker,
  s.shape, s.size_bytes, coalesce(l.leverage_bytes, 0) AS leverage_bytes,
  s.op_name
FROM selected_memory() AS m
JOIN single AS s USING (module_id, color)
LEFT JOIN value_leverage() AS l
  ON l.module_id = s.module_id
  AND l.allocation_id = s.allocation_id
  AND l.value_id = s.value_id
ORDER BY
  leverage_bytes DESC, s.size_bytes DESC, m.program, m.module_number, m.rank,
  s.value_id
LIMIT $top
