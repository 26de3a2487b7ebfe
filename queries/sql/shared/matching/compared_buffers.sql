-- title: Buffers of pairs of modules
-- question: Which buffers fill the memory of two modules, and which others may
--   correspond to them?
-- definition: Rows with is_counted fill the memory: all allocations but
--   temporaries as a whole, and of the temporaries the values that are live at
--   the first step with the most live temporary bytes of their memory space.
--   Bytes that values share in place belong to the newest (greatest
--   start_step, then value_id). The other rows are values that may correspond
--   to a counted one of the other side, with equal op_path (or else opcode)
--   and dimensions. With arenas: the values of these allocations; the `most`
--   values with the greatest bytes times steps are counted.
-- grain: pair of modules, side, buffer
-- param base_ids BIGINT[] = NULL: Module contents of the base; NULL for none.
-- param candidate_ids BIGINT[] = NULL: Module contents of the candidate, in
--   the same order.
-- param base_arenas BIGINT[] = NULL from 0: Allocations of the base to compare
--   instead, in the same order; NULL for all memory.
-- param candidate_arenas BIGINT[] = NULL from 0: Allocations of the candidate,
--   in the same order.
-- param most BIGINT = 250 from 0: Values of an arena that are counted.
-- column pair BIGINT id neutral: Position of the pair in the lists.
-- column is_candidate BOOLEAN flag neutral: Which side.
-- column place BIGINT id neutral: Position among the buffers of its side, in
--   order of definition.
-- column module_id
-- column color
-- column kind
-- column allocation_id
-- column value_id
-- column instruction
-- column opcode
-- column op_path VARCHAR name neutral: Framework path without the names of the
--   jitted functions around it.
-- column array_type VARCHAR text neutral: Shape without layout.
-- column shape_index
-- column parameter VARCHAR name neutral: Number and index, such as 3{0}.
-- column offset_bytes
-- column size_bytes
-- column logical_bytes
-- column start_step
-- column end_step
-- column is_counted BOOLEAN flag neutral: Whether it fills the memory.
-- column owned_bytes BIGINT bytes lower_is_better: Bytes that it owns; NULL if
--   it is not counted, and for arenas.
WITH filled_sides AS MATERIALIZED (
  -- Arguments are read inside of macros, where no CTE may have their names.
  SELECT * FROM (
    SELECT
      unnest(range(1, len($base_ids) + 1)) AS pair, FALSE AS is_candidate,
      unnest($base_ids) AS module_id, unnest($base_arenas) AS arena_id
    UNION ALL
    SELECT
      unnest(range(1, len($base_ids) + 1)), TRUE, unnest($candidate_ids),
      unnest($candidate_arenas)
  )
  WHERE module_id IS NOT NULL
),
asked AS (
  SELECT count(arena_id) > 0 AS is_of_arenas FROM filled_sides
),
wanted AS MATERIALIZED (
  -- Unnested, they are taken for a few rows.
  SELECT unnest(list(DISTINCT module_id)) AS module_id FROM filled_sides
),
highest AS (
  SELECT
    t.module_id, t.color AS space_color,
    arg_max(t.from_step, (t.temp_live_bytes, -t.from_step)) AS step
  FROM memory_timeline AS t
  JOIN wanted USING (module_id)
  GROUP BY t.module_id, t.color
),
-- Fixed before it is joined by number: else those of all modules are.
named AS MATERIALIZED (
  SELECT i.module_id, i.instruction_id, i.name, i.form_id
  FROM wanted
  JOIN store.instructions AS i USING (module_id)
),
placed AS MATERIALIZED (
  SELECT
    a.module_id, a.allocation_id, a.color AS space_color, a.kind, s.value_id,
    s.offset_bytes, s.size_bytes
  FROM wanted
  JOIN allocations AS a USING (module_id)
  JOIN allocation_values AS s USING (module_id, allocation_id)
),
defined AS MATERIALIZED (
  SELECT
    v.module_id, v.value_id, v.instruction_id, v.shape, v.shape_index,
    v.logical_bytes
  FROM wanted
  JOIN store."values" AS v USING (module_id)
),
lives AS MATERIALIZED (
  SELECT l.module_id, l.value_id, l.start_step, l.end_step
  FROM wanted
  JOIN store.live_ranges AS l USING (module_id)
),
described AS MATERIALIZED (
  SELECT
    d.*, hash(coalesce(d.op_path, d.opcode), d.array_type) AS likeness,
    coalesce(
      d.kind = 'temp' AND h.step BETWEEN d.start_step AND d.end_step, FALSE
    ) AS is_live
  FROM (
    SELECT
      a.module_id, a.allocation_id, a.space_color, a.kind, a.value_id,
      i.name AS instruction, f.opcode,
      nullif(regexp_replace(
        regexp_replace(f.op_name, '^(p?jit\([^/]*\)/)+', ''),
        '\[\w+=.*\]$', ''
      ), '') AS op_path,
      regexp_replace(v.shape, '\{[^}]*\}', '', 'g') AS array_type,
      v.shape_index, a.offset_bytes, a.size_bytes, v.logical_bytes,
      l.start_step, l.end_step
    FROM placed AS a
    JOIN defined AS v USING (module_id, value_id)
    LEFT JOIN named AS i
      ON i.module_id = v.module_id
      AND i.instruction_id = v.instruction_id
    LEFT JOIN store.instruction_forms AS f USING (form_id)
    LEFT JOIN lives AS l
      ON l.module_id = a.module_id
      AND l.value_id = a.value_id
  ) AS d
  LEFT JOIN highest AS h
    ON h.module_id = d.module_id
    AND h.space_color = d.space_color
),
principal AS MATERIALIZED (
  SELECT d.*
  FROM described AS d
  WHERE d.kind <> 'temp'
  QUALIFY row_number() OVER (
    PARTITION BY d.module_id, d.allocation_id
    ORDER BY
      d.kind = 'parameter' AND d.opcode = 'parameter' DESC, d.size_bytes DESC,
      d.start_step DESC, d.value_id DESC
  ) = 1
),
live_values AS (
  SELECT DISTINCT
    module_id, allocation_id, value_id, offset_bytes AS from_byte,
    offset_bytes + size_bytes AS to_byte, coalesce(start_step, 0) AS born
  FROM described
  WHERE is_live
),
cuts AS (
  SELECT module_id, allocation_id, from_byte AS byte FROM live_values
  UNION
  SELECT module_id, allocation_id, to_byte FROM live_values
),
pieces AS (
  SELECT
    module_id, allocation_id, byte AS from_byte,
    lead(byte) OVER (
      PARTITION BY module_id, allocation_id ORDER BY byte
    ) AS to_byte
  FROM cuts
),
owners AS (
  SELECT
    p.module_id, p.allocation_id, p.to_byte - p.from_byte AS piece_bytes,
    arg_max(v.value_id, (v.born, v.value_id)) AS value_id
  FROM pieces AS p
  JOIN live_values AS v
    ON v.module_id = p.module_id
    AND v.allocation_id = p.allocation_id
    AND v.from_byte <= p.from_byte
    AND v.to_byte > p.from_byte
  GROUP BY p.module_id, p.allocation_id, p.from_byte, p.to_byte
),
owned AS (
  SELECT
    module_id, allocation_id, value_id, sum(piece_bytes) AS owned_bytes
  FROM owners
  GROUP BY module_id, allocation_id, value_id
),
whole AS (
  SELECT
    a.module_id, a.allocation_id, a.color AS space_color, a.kind, p.value_id,
    p.instruction, p.opcode, p.op_path,
    coalesce(
      p.array_type, regexp_replace(a.shape, '\{[^}]*\}', '', 'g')
    ) AS array_type,
    p.shape_index, 0 AS offset_bytes, a.size_bytes, p.logical_bytes,
    p.start_step, p.end_step, p.likeness, TRUE AS is_counted,
    a.size_bytes AS owned_bytes,
    nullif(
      a.parameter_number || coalesce(a.parameter_shape_index, '{}'), ''
    ) AS parameter
  FROM wanted
  JOIN allocations AS a USING (module_id)
  LEFT JOIN principal AS p
    ON p.module_id = a.module_id
    AND p.allocation_id = a.allocation_id
  WHERE a.kind <> 'temp'
),
parts_of_arenas AS (
  SELECT
    d.module_id, d.allocation_id, d.space_color, d.kind, d.value_id,
    d.instruction, d.opcode, d.op_path, d.array_type, d.shape_index,
    d.offset_bytes, d.size_bytes, d.logical_bytes, d.start_step, d.end_step,
    d.likeness, d.is_live AS is_counted,
    CASE WHEN d.is_live THEN coalesce(o.owned_bytes, 0) END AS owned_bytes,
    NULL AS parameter
  FROM described AS d
  LEFT JOIN owned AS o
    ON o.module_id = d.module_id
    AND o.allocation_id = d.allocation_id
    AND o.value_id = d.value_id
  ANTI JOIN principal AS p
    ON p.module_id = d.module_id
    AND p.value_id = d.value_id
    AND p.allocation_id = d.allocation_id
  WHERE d.kind <> 'thread_local'
),
filling AS (
  SELECT s.pair, s.is_candidate, b.*
  FROM (FROM whole UNION ALL BY NAME FROM parts_of_arenas) AS b
  JOIN filled_sides AS s USING (module_id)
  WHERE NOT (SELECT a.is_of_arenas FROM asked AS a)
  UNION ALL BY NAME
  SELECT
    s.pair, s.is_candidate,
    d.* EXCLUDE (is_live),
    row_number() OVER (
      PARTITION BY s.pair, s.is_candidate
      ORDER BY
        CAST(d.size_bytes AS HUGEINT) * (d.end_step - d.start_step + 1) DESC,
        d.start_step, d.offset_bytes, d.value_id
    ) <= $most AS is_counted
  FROM filled_sides AS s
  JOIN described AS d
    ON d.module_id = s.module_id
    AND d.allocation_id = s.arena_id
  WHERE (SELECT a.is_of_arenas FROM asked AS a)
    AND d.size_bytes > 0
    AND d.start_step IS NOT NULL
),
looked_for AS (
  SELECT DISTINCT f.pair, f.is_candidate, f.likeness
  FROM filling AS f
  WHERE f.is_counted
)
SELECT
  f.pair, f.is_candidate,
  row_number() OVER (
    PARTITION BY f.pair, f.is_candidate
    ORDER BY
      coalesce(f.start_step, -1), f.allocation_id, f.offset_bytes,
      coalesce(f.value_id, -1), f.kind
  ) AS place,
  f.module_id, f.space_color AS color, f.kind, f.allocation_id, f.value_id,
  f.instruction, f.opcode, f.op_path, f.array_type, f.shape_index,
  f.parameter, CAST(f.offset_bytes AS BIGINT) AS offset_bytes, f.size_bytes,
  f.logical_bytes, f.start_step, f.end_step, f.is_counted,
  CAST(f.owned_bytes AS BIGINT) AS owned_bytes
FROM filling AS f
LEFT JOIN looked_for AS l
  ON l.pair = f.pair
  AND l.is_candidate <> f.is_candidate
  AND l.likeness = f.likeness
WHERE f.is_counted
  OR l.pair IS NOT NULL
