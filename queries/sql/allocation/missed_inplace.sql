-- title: Missed in-place reuse
-- question: Where does an instruction write to a new buffer although an
--   operand of the same size is no longer needed?
-- definition: Pairs of temporary values in one memory space: an instruction
--   reads the older value for the last time and defines the newer one at the
--   same step; both have the same size, but different places, and the
--   instruction could work in place: whatever it writes at a place depends, of
--   the older value, on the same place alone. So are element-wise operations
--   and copies without a change of layout, the first operand of
--   dynamic-update-slice and scatter, the n-th operand of a sort for its n-th
--   result; and fusions of kind loop or input, if everything that reads the
--   operand in them is such an operation (or a bitcast, or a reshape or
--   transpose that moves nothing), and leads to that result. Other transposes,
--   slices, broadcasts, reductions and other reads of an operand rule it out,
--   as does a fusion whose computation the dump lacks. If several operands and
--   results have the same size, the n-th is paired with the n-th; those that
--   do share a place are left out. leverage_bytes is the fall of the live peak
--   if the pair shared its bytes at that step.
-- grain: module occurrence, pair of values
-- leading: program, space_name, instruction, operand_instruction,
--   leverage_bytes, saved_bytes, shape
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
-- column instruction VARCHAR name neutral: Instruction that defines the newer
--   value.
-- column shape_index
-- column opcode
-- column operand_instruction VARCHAR name neutral: Instruction of the older
--   value, the operand.
-- column operand_shape_index VARCHAR name neutral: Index into its result.
-- column step INTEGER step neutral: Step at which the older value ends and the
--   newer one begins.
-- column shape VARCHAR text neutral: Shape of the newer value.
-- column saved_bytes BIGINT bytes higher_is_better: Size of each of the two.
-- column leverage_bytes BIGINT bytes higher_is_better: Possible fall of the
--   live peak.
-- column op_name
WITH RECURSIVE elementwise AS (
  SELECT unnest([
    'abs', 'add', 'and', 'bitcast-convert', 'cbrt', 'ceil', 'clamp',
    'compare', 'convert', 'copy', 'cosine', 'count-leading-zeros', 'divide',
    'erf', 'exponential', 'exponential-minus-one', 'floor', 'is-finite',
    'log', 'log-plus-one', 'logistic', 'maximum', 'minimum', 'multiply',
    'negate', 'not', 'or', 'popcnt', 'power', 'reduce-precision', 'remainder',
    'round-nearest-afz', 'round-nearest-even', 'rsqrt', 'select',
    'shift-left', 'shift-right-arithmetic', 'shift-right-logical', 'sign',
    'sine', 'sqrt', 'subtract', 'tan', 'tanh', 'xor'
  ]) AS opcode
),
tenants AS (
  SELECT *
  FROM placed_values()
  WHERE kind = 'temp'
    AND start_step IS NOT NULL
    AND size_bytes > 0
),
met AS MATERIALIZED (
  SELECT DISTINCT
    b.module_id, b.color AS space_color, b.instruction_id, b.instruction,
    b.shape_index, a.instruction AS operand_instruction,
    a.shape_index AS operand_shape_index, b.start_step AS step, b.shape,
    b.size_bytes, i.opcode, i.op_name, a.value_id AS older_id,
    b.value_id AS newer_id, a.shape AS older_shape,
    a.allocation_id = b.allocation_id AND a.offset_bytes = b.offset_bytes
      AS is_shared,
    coalesce(
      TRY_CAST(regexp_extract(b.shape_index, '^\{([0-9]+)', 1) AS INTEGER), 0
    ) AS result_number
  FROM tenants AS a
  JOIN store.value_uses AS u
    ON u.module_id = a.module_id
    AND u.value_id = a.value_id
  JOIN tenants AS b
    ON b.module_id = u.module_id
    AND b.instruction_id = u.instruction_id
    AND b.start_step = a.end_step
    AND b.size_bytes = a.size_bytes
    AND b.color = a.color
    AND b.value_id <> a.value_id
  JOIN selected_instructions() AS i
    ON i.module_id = b.module_id
    AND i.instruction_id = b.instruction_id
  WHERE i.opcode IN ('dynamic-update-slice', 'scatter', 'sort')
    OR i.opcode IN (SELECT e.opcode FROM elementwise AS e)
    OR (i.opcode = 'fusion' AND i.fusion_kind IN ('kLoop', 'kInput'))
),
-- What fusions do, with the computations that they call in turn.
called AS (
  SELECT DISTINCT
    m.module_id, m.instruction_id AS fusion_id,
    m.instruction_id AS caller_id, c.computation_id
  FROM met AS m
  JOIN called_computations AS c USING (module_id, instruction_id)
  WHERE m.opcode = 'fusion'
    AND c.role = 'calls'
  UNION
  SELECT d.module_id, d.fusion_id, i.instruction_id, c.computation_id
  FROM called AS d
  JOIN store.instructions AS i
    ON i.module_id = d.module_id
    AND i.computation_id = d.computation_id
  JOIN called_computations AS c
    ON c.module_id = i.module_id
    AND c.instruction_id = i.instruction_id
  WHERE c.role = 'calls'
),
inside AS MATERIALIZED (
  SELECT
    d.module_id, d.fusion_id, d.caller_id, i.instruction_id, f.opcode,
    f.parameter_number, f.element_type, f.shape, f.attributes,
    i.instruction_id = o.root_instruction_id AS is_root
  FROM called AS d
  JOIN computations AS o USING (module_id, computation_id)
  JOIN store.instructions AS i USING (module_id, computation_id)
  JOIN store.instruction_forms AS f USING (form_id)
),
-- Without tiles, a dimension of size 1 may be anywhere in the layout.
layouts AS MATERIALIZED (
  SELECT
    shape, tile, sizes,
    list_filter(
      minor_to_major, lambda x: tile <> '' OR sizes[x + 1] <> '1'
    ) AS places,
    minor_to_major = list_reverse(range(len(sizes))) AS is_row_major
  FROM (
    SELECT
      shape,
      string_split(regexp_extract(shape, '\[([^\]]*)\]', 1), ',') AS sizes,
      list_transform(
        regexp_extract_all(
          regexp_extract(shape, '\]\{([0-9,]*)', 1), '[0-9]+'
        ), lambda x: CAST(x AS BIGINT)
      ) AS minor_to_major,
      regexp_extract(shape, ':[^S]*?T\(([0-9,*]*)\)', 1) AS tile
    FROM (
      SELECT shape FROM inside
      UNION
      SELECT shape FROM met
      UNION
      SELECT older_shape FROM met
    ) AS s
    WHERE shape NOT LIKE '(%'
  ) AS l
),
nodes AS MATERIALIZED (
  SELECT
    i.*, l.sizes, l.places, l.tile, l.is_row_major,
    list_transform(
      regexp_extract_all(
        regexp_extract(i.attributes, 'dimensions=\{([0-9,]*)\}', 1), '[0-9]+'
      ), lambda x: CAST(x AS BIGINT)
    ) AS from_places
  FROM inside AS i
  LEFT JOIN layouts AS l USING (shape)
),
read AS MATERIALIZED (
  SELECT p.module_id, p.instruction_id, p.operand_index, p.operand_id
  FROM (SELECT DISTINCT module_id FROM nodes) AS m
  JOIN operands AS p USING (module_id)
),
-- is_same: a place of the result depends on the same place of the operand.
edges AS MATERIALIZED (
  SELECT
    r.module_id, r.fusion_id, r.instruction_id AS reader_id,
    o.instruction_id AS operand_id, p.operand_index,
    CASE
      WHEN r.opcode = 'tuple' THEN TRUE
      WHEN r.opcode = 'bitcast' THEN r.element_type = o.element_type
      WHEN r.opcode = 'reshape'
        THEN r.is_row_major AND o.is_row_major AND r.tile = ''
          AND o.tile = ''
      WHEN r.opcode IN ('dynamic-update-slice', 'scatter')
        THEN p.operand_index = 0
      WHEN r.opcode = 'transpose'
        THEN r.tile = ''
          AND o.tile = ''
          AND list_transform(r.places, lambda x: r.from_places[x + 1])
            = o.places
      ELSE coalesce(
        r.sizes = o.sizes AND r.places = o.places AND r.tile = o.tile, FALSE
      ) AND r.opcode IN (SELECT e.opcode FROM elementwise AS e)
    END AS is_same
  FROM nodes AS r
  JOIN read AS p USING (module_id, instruction_id)
  JOIN nodes AS o
    ON o.module_id = p.module_id
    AND o.fusion_id = r.fusion_id
    AND o.instruction_id = p.operand_id
  WHERE r.opcode <> 'fusion'
  UNION ALL
  -- A fusion within: its operands are the parameters, its result the root.
  SELECT
    r.module_id, r.fusion_id, r.instruction_id, p.operand_id, NULL, TRUE
  FROM nodes AS r
  JOIN read AS p
    ON p.module_id = r.module_id
    AND p.instruction_id = r.caller_id
    AND p.operand_index = r.parameter_number
  WHERE r.opcode = 'parameter'
    AND r.caller_id <> r.fusion_id
  UNION ALL
  SELECT
    r.module_id, r.fusion_id, r.caller_id, r.instruction_id, NULL, TRUE
  FROM nodes AS r
  WHERE r.is_root
    AND r.caller_id <> r.fusion_id
),
walk AS (
  SELECT
    module_id, fusion_id, parameter_number, instruction_id AS node_id
  FROM nodes
  WHERE opcode = 'parameter'
    AND caller_id = fusion_id
  UNION
  SELECT w.module_id, w.fusion_id, w.parameter_number, e.reader_id
  FROM walk AS w
  JOIN edges AS e
    ON e.module_id = w.module_id
    AND e.fusion_id = w.fusion_id
    AND e.operand_id = w.node_id
  WHERE e.is_same
),
moving AS (
  SELECT DISTINCT w.module_id, w.fusion_id, w.parameter_number
  FROM walk AS w
  JOIN edges AS e
    ON e.module_id = w.module_id
    AND e.fusion_id = w.fusion_id
    AND e.operand_id = w.node_id
  WHERE NOT e.is_same
),
results AS (
  SELECT
    r.module_id, r.fusion_id, coalesce(e.operand_index, 0) AS result_number,
    coalesce(e.operand_id, r.instruction_id) AS node_id
  FROM nodes AS r
  LEFT JOIN edges AS e
    ON r.opcode = 'tuple'
    AND e.module_id = r.module_id
    AND e.fusion_id = r.fusion_id
    AND e.reader_id = r.instruction_id
  WHERE r.is_root
    AND r.caller_id = r.fusion_id
),
in_place AS MATERIALIZED (
  SELECT DISTINCT
    w.module_id, w.fusion_id, w.parameter_number, r.result_number
  FROM walk AS w
  JOIN results AS r USING (module_id, fusion_id, node_id)
  ANTI JOIN moving AS m USING (module_id, fusion_id, parameter_number)
),
fitting AS (
  SELECT
    m.*,
    CASE
      WHEN m.opcode IN ('dynamic-update-slice', 'scatter')
        THEN u.operand_index = 0
      WHEN m.opcode = 'sort' THEN u.operand_index = m.result_number
      WHEN m.opcode = 'fusion' THEN p.result_number IS NOT NULL
      ELSE a.sizes = b.sizes AND a.places = b.places AND a.tile = b.tile
    END AS is_fitting
  FROM met AS m
  JOIN store.value_uses AS u
    ON u.module_id = m.module_id
    AND u.value_id = m.older_id
    AND u.instruction_id = m.instruction_id
  LEFT JOIN layouts AS a
    ON a.shape = m.older_shape
  LEFT JOIN layouts AS b
    ON b.shape = m.shape
  LEFT JOIN in_place AS p
    ON p.module_id = m.module_id
    AND p.fusion_id = m.instruction_id
    AND p.parameter_number = u.operand_index
    AND p.result_number = m.result_number
),
judged AS (
  -- Of a value that is more than one operand, every one has to fit.
  SELECT * EXCLUDE (is_fitting), bool_and(is_fitting) AS is_fitting
  FROM fitting
  GROUP BY ALL
),
apart AS (
  SELECT
    *,
    dense_rank() OVER (sizes ORDER BY older_id) AS older_place,
    dense_rank() OVER (sizes ORDER BY newer_id) AS newer_place
  FROM (
    SELECT
      *,
      bool_or(is_shared) OVER (PARTITION BY module_id, older_id) AS is_taken,
      bool_or(is_shared) OVER (PARTITION BY module_id, newer_id) AS is_placed
    FROM judged
  )
  WHERE is_fitting
    AND NOT is_taken
    AND NOT is_placed
  WINDOW sizes AS (
    PARTITION BY module_id, instruction_id, space_color, size_bytes
  )
),
pairs AS (
  SELECT *
  FROM apart
  WHERE older_place = newer_place
),
peaks AS (
  SELECT
    module_id, t.color AS space_color, max(live_bytes) AS first_bytes,
    count(*) FILTER (
      WHERE live_bytes = highest
    ) AS highest_count,
    max(live_bytes) FILTER (WHERE live_bytes < highest) AS second_bytes,
    max(from_step) FILTER (WHERE live_bytes = highest) AS highest_from,
    max(to_step) FILTER (WHERE live_bytes = highest) AS highest_to
  FROM (
    SELECT
      *,
      max(live_bytes) OVER (
        PARTITION BY module_id, memory_timeline.color
      ) AS highest
    FROM memory_timeline
  ) AS t
  GROUP BY module_id, t.color
)
SELECT
  m.run, m.program, m.module_number, m.rank, m.color, m.space_name,
  p.instruction, p.shape_index, p.opcode, p.operand_instruction,
  p.operand_shape_index, p.step, p.shape,
  p.size_bytes AS saved_bytes,
  CASE
    WHEN k.highest_count = 1
      AND k.highest_from = p.step
      AND k.highest_to = p.step
    THEN least(p.size_bytes, k.first_bytes - coalesce(k.second_bytes, 0))
    ELSE 0
  END AS leverage_bytes,
  p.op_name
FROM selected_memory() AS m
JOIN pairs AS p
  ON p.module_id = m.module_id
  AND p.space_color = m.color
LEFT JOIN peaks AS k
  ON k.module_id = m.module_id
  AND k.space_color = m.color
ORDER BY
  leverage_bytes DESC, saved_bytes DESC, m.program, m.module_number, m.rank,
  p.older_id, p.newer_id
LIMIT $top
