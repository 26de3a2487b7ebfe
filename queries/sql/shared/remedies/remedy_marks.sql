-- title: Values that a change to the program could free
-- question: Which values would be smaller or gone after which kind of change?
-- definition: A value is there once for each mark and subject. Without the
--   bytes of all values with one mark and subject, or part of whole of them,
--   the peak may fall; set_leverage says how far. array: every array.
--   argument: in the memory of an argument, or a result that an argument is
--   replaced by. cache: the same, and temporary arrays of its dimensions, with
--   or without the first one. moved: results that an argument's memory could
--   take (missed_donations), from its last use on. replicated: arguments of
--   replicated_tensors. padded: arrays of two dimensions or more that are
--   larger than their data. saved: saved_values, but for a CPU, for which XLA
--   undoes recomputation outside of loops. offloaded: their longest time
--   without an access, where there is another memory. kept: of saved_values,
--   the arrays that a loop fills with a part for each iteration, but one for
--   each array of the loop's own state that has the same dimensions.
--   activation: temporary arrays of programs that replace arguments, with
--   other dimensions than any argument but the inputs, and these, without
--   gathered_values. wide: 32-bit arrays that are not like an argument, in
--   programs whose large arrays are mostly of 16 bits. given: constants, and
--   temporary arrays computed from positions alone, but for those that a
--   reduce-window reads: XLA adds them to the gradient of max pooling.
--   reported: results that replace no argument, in programs that do replace
--   some, from the last use on. gathered: gathered_values, from their second
--   step to the one before they are read. awaiting: temporary arrays of an
--   argument's dimensions that an operation reads with a number computed from
--   several of them later on, such as the norm of all gradients, and those of
--   which the number is computed, as far as they are live then; from their
--   second step on.
-- grain: module content, value, mark, subject
-- param run
-- param program
-- column module_id
-- column color
-- column value_id
-- column mark VARCHAR name neutral: How a change would free it.
-- column subject VARCHAR text neutral: Name of the values with which it goes;
--   NULL where the rule says so.
-- column kind
-- column opcode
-- column name VARCHAR name neutral: As in remedy_values.
-- column instruction
-- column shape
-- column element_type VARCHAR name neutral: As in remedy_values.
-- column dimensions VARCHAR text neutral: As in remedy_values.
-- column size_bytes
-- column part BIGINT count neutral: So many of
-- column whole BIGINT count neutral: so many bytes are freed; NULL where the
--   rule says so.
-- column is_apart BIGINT count neutral: 1 where the other values of its
--   allocation get memory of their own.
-- column from_step INTEGER step neutral: First step at which it is freed; NULL
--   for its own first.
-- column until_step INTEGER step neutral: Last such step; NULL for its own
--   last.
WITH RECURSIVE described AS MATERIALIZED (
  SELECT * FROM remedy_values()
),
arrays AS MATERIALIZED (
  SELECT * FROM described WHERE element_type <> ''
),
pairs AS MATERIALIZED (
  SELECT d.*, u.last_use_step
  FROM missed_donations() AS d
  LEFT JOIN argument_last_uses() AS u
    ON u.module_id = d.module_id
    AND u.allocation_id = d.parameter_id
),
every_argument AS MATERIALIZED (
  SELECT DISTINCT
    v.module_id, v.allocation_id, v.color, v.name, v.dimensions,
    regexp_extract(v.name, '^[^.\[]*') AS root,
    a.is_live_out OR p.parameter_id IS NOT NULL AS is_replaced
  FROM arrays AS v
  JOIN allocations AS a
    ON a.module_id = v.module_id
    AND a.allocation_id = v.allocation_id
  LEFT JOIN pairs AS p
    ON p.module_id = v.module_id
    AND p.parameter_id = v.allocation_id
  WHERE v.kind = 'parameter'
    AND v.opcode = 'parameter'
),
-- What has parts that are replaced, beside other arguments, is no input: a
-- replicated weight may come out sharded.
state AS MATERIALIZED (
  SELECT a.module_id, a.root
  FROM every_argument AS a
  SEMI JOIN (
    SELECT module_id
    FROM every_argument
    GROUP BY module_id
    HAVING count(DISTINCT root) > 1
  ) AS m ON m.module_id = a.module_id
  GROUP BY a.module_id, a.root
  HAVING bool_or(a.is_replaced)
),
arguments AS MATERIALIZED (
  SELECT
    a.module_id, a.allocation_id, a.color, a.name, a.dimensions,
    NOT a.is_replaced AND s.root IS NULL
      AND NOT regexp_matches(a.name, '(^|[^a-z])(params?|weights?|state)')
      AS is_input
  FROM every_argument AS a
  LEFT JOIN state AS s
    ON s.module_id = a.module_id
    AND s.root = a.root
),
-- Where an argument is, and where what replaces it is.
places AS MATERIALIZED (
  SELECT a.module_id, a.allocation_id, a.name, a.dimensions FROM arguments AS a
  UNION
  SELECT a.module_id, p.output_id, a.name, a.dimensions
  FROM arguments AS a
  JOIN pairs AS p
    ON p.module_id = a.module_id
    AND p.parameter_id = a.allocation_id
),
named_pairs AS MATERIALIZED (
  SELECT
    p.module_id, p.space_color,
    string_agg(p.argument, ', ' ORDER BY p.parameter_number)
      FILTER (WHERE p.argument_place <= 3)
    || CASE WHEN count(*) > 3 THEN ' and ' || (count(*) - 3) || ' more'
      ELSE '' END AS arguments
  FROM (
    SELECT
      a.*,
      row_number() OVER (
        PARTITION BY a.module_id, a.space_color ORDER BY a.parameter_number
      ) AS argument_place
    FROM (
      SELECT DISTINCT
        p.module_id, p.color AS space_color, p.parameter_number,
        coalesce(n.op_name, 'parameter ' || p.parameter_number || CASE
          WHEN p.parameter_index = '{}' THEN '' ELSE p.parameter_index END
        ) AS argument
      FROM pairs AS p
      LEFT JOIN entry_parameters() AS n
        ON n.module_id = p.module_id
        AND n.parameter_number = p.parameter_number
    ) AS a
  ) AS p
  GROUP BY p.module_id, p.space_color
),
-- Programs that replace some of their arguments.
updating AS MATERIALIZED (
  SELECT module_id FROM pairs
  UNION
  SELECT a.module_id
  FROM selected_contents() AS c
  JOIN allocations AS a USING (module_id)
  WHERE a.parameter_number IS NOT NULL
    AND a.is_live_out
),
-- In any order, and without the dimension over which a loop goes.
sizes_of_arguments AS MATERIALIZED (
  SELECT DISTINCT
    a.module_id, list_sort(string_split(a.dimensions, ',')) AS sizes
  FROM arguments AS a
  WHERE a.dimensions LIKE '%,%'
    AND NOT a.is_input
  UNION
  SELECT DISTINCT
    a.module_id, list_sort(string_split(a.dimensions, ',')[2:]) AS sizes
  FROM arguments AS a
  WHERE a.dimensions LIKE '%,%,%'
    AND NOT a.is_input
),
saved AS MATERIALIZED (
  SELECT v.*, s.idle_from_step, s.idle_until_step
  FROM saved_values() AS s
  JOIN arrays AS v
    ON v.module_id = s.module_id
    AND v.value_id = s.value_id
),
results AS MATERIALIZED (
  SELECT DISTINCT v.*
  FROM result_places() AS r
  JOIN arrays AS v
    ON v.module_id = r.module_id
    AND v.allocation_id = r.allocation_id
    AND v.value_id = r.value_id
  SEMI JOIN updating AS u ON u.module_id = v.module_id
  ANTI JOIN places AS p
    ON p.module_id = v.module_id
    AND p.allocation_id = v.allocation_id
  WHERE v.kind = 'live_out'
),
users AS MATERIALIZED (
  SELECT v.module_id, v.value_id, v.mark, u.instruction_id
  FROM (
    SELECT module_id, value_id, 'reported' AS mark FROM results
    UNION ALL
    SELECT module_id, value_id, 'gathered' FROM gathered_values()
  ) AS v
  JOIN store.value_uses AS u USING (module_id, value_id)
),
scheduled AS MATERIALIZED (
  SELECT
    i.module_id, i.instruction_id, i.computation_id, i.schedule_step, f.opcode
  FROM selected_contents() AS c
  JOIN store.instructions AS i USING (module_id)
  JOIN store.instruction_forms AS f USING (form_id)
),
uses AS MATERIALIZED (
  SELECT
    u.module_id, u.value_id, u.mark, min(i.schedule_step) AS first_step,
    max(i.schedule_step) AS last_step
  FROM users AS u
  JOIN scheduled AS i USING (module_id, instruction_id)
  WHERE i.opcode NOT IN ('tuple', 'copy-done')
  GROUP BY u.module_id, u.value_id, u.mark
),
-- Computed from positions or large constants alone, at once or in two steps.
sources AS MATERIALIZED (
  SELECT
    i.module_id, i.instruction_id, i.opcode, p.operand_id,
    o.opcode = 'constant' AS is_constant
  FROM scheduled AS i
  LEFT JOIN operands AS p
    ON p.module_id = i.module_id
    AND p.instruction_id = i.instruction_id
  LEFT JOIN scheduled AS o
    ON o.module_id = p.module_id
    AND o.instruction_id = p.operand_id
  WHERE i.schedule_step IS NOT NULL
    AND i.opcode IN ('fusion', 'iota', 'broadcast', 'compare', 'select')
),
placed_by_index AS MATERIALIZED (
  SELECT s.module_id, s.instruction_id
  FROM sources AS s
  LEFT JOIN called_computations AS c
    ON c.module_id = s.module_id
    AND c.instruction_id = s.instruction_id
  LEFT JOIN scheduled AS i
    ON i.module_id = c.module_id
    AND i.computation_id = c.computation_id
  LEFT JOIN described AS k
    ON k.module_id = s.module_id
    AND k.instruction_id = s.operand_id
    AND k.kind = 'constant'
    AND k.dimensions LIKE '%,%'
  GROUP BY s.module_id, s.instruction_id
  HAVING bool_and(s.operand_id IS NULL OR s.is_constant)
    AND (
      bool_or(s.opcode = 'iota') OR bool_or(i.opcode = 'iota')
      OR bool_or(k.value_id IS NOT NULL)
    )
),
indexed AS MATERIALIZED (
  SELECT v.module_id, v.value_id
  FROM arrays AS v
  JOIN (
    FROM placed_by_index
    UNION
    SELECT s.module_id, s.instruction_id
    FROM sources AS s
    LEFT JOIN placed_by_index AS p
      ON p.module_id = s.module_id
      AND p.instruction_id = s.operand_id
    GROUP BY s.module_id, s.instruction_id
    HAVING bool_and(
      p.instruction_id IS NOT NULL OR coalesce(s.is_constant, FALSE)
    )
    AND bool_or(p.instruction_id IS NOT NULL)
  ) AS p
    ON p.module_id = v.module_id
    AND p.instruction_id = v.instruction_id
  WHERE v.kind = 'temp'
),
windowed AS MATERIALIZED (
  SELECT DISTINCT v.module_id, v.value_id
  FROM indexed AS v
  JOIN store.value_uses AS u USING (module_id, value_id)
  JOIN scheduled AS i USING (module_id, instruction_id)
  LEFT JOIN called_computations AS c
    ON c.module_id = i.module_id
    AND c.instruction_id = i.instruction_id
  LEFT JOIN scheduled AS k
    ON k.module_id = c.module_id
    AND k.computation_id = c.computation_id
  WHERE i.opcode = 'reduce-window'
    OR k.opcode = 'reduce-window'
),
-- Of each loop that fills saved arrays: all that it carries.
loops_there AS MATERIALIZED (
  SELECT
    s.module_id, s.instruction_id, s.name AS loop_name, v.value_id,
    v.allocation_id, v.offset_bytes, v.dimensions
  FROM (
    SELECT DISTINCT i.module_id, i.instruction_id, i.instruction AS name
    FROM described AS i
    WHERE i.opcode = 'while'
  ) AS s
  JOIN store.value_positions AS p
    ON p.module_id = s.module_id
    AND p.instruction_id = s.instruction_id
  JOIN arrays AS v
    ON v.module_id = p.module_id
    AND v.value_id = p.value_id
),
platforms AS MATERIALIZED (
  SELECT module_id, any_value(platform) AS platform
  FROM selected_modules()
  GROUP BY module_id
),
-- A stack that no loop reads is a result of its own loop, and stays.
results_of_loops AS MATERIALIZED (
  SELECT l.module_id, l.allocation_id, l.offset_bytes
  FROM loops_there AS l
  JOIN store.value_uses AS u USING (module_id, value_id)
  JOIN store.instructions AS i
    ON i.module_id = u.module_id
    AND i.instruction_id = u.instruction_id
  JOIN store.instruction_forms AS f USING (form_id)
  WHERE l.dimensions LIKE '%,%'
  GROUP BY l.module_id, l.allocation_id, l.offset_bytes
  HAVING NOT bool_or(f.opcode = 'while')
),
stacks AS (
  SELECT
    v.module_id, v.value_id, l.instruction_id, l.loop_name, l.dimensions,
    dense_rank() OVER (
      PARTITION BY l.module_id, l.instruction_id, l.dimensions
      ORDER BY l.allocation_id, l.offset_bytes
    ) AS stack_place
  FROM loops_there AS l
  JOIN saved AS v
    ON v.module_id = l.module_id
    AND v.allocation_id = l.allocation_id
    AND v.offset_bytes = l.offset_bytes
    AND v.dimensions = l.dimensions
  ANTI JOIN results_of_loops AS r
    ON r.module_id = l.module_id
    AND r.allocation_id = l.allocation_id
    AND r.offset_bytes = l.offset_bytes
  WHERE v.dimensions LIKE '%,%'
),
states AS (
  SELECT module_id, instruction_id, dimensions, count(*) AS state_count
  FROM loops_there
  WHERE dimensions <> ''
  GROUP BY module_id, instruction_id, dimensions
),
-- Of stacks with the dimensions of the state, one for each stays.
kept AS MATERIALIZED (
  SELECT s.module_id, s.value_id, min(s.loop_name) AS loop_name
  FROM stacks AS s
  LEFT JOIN states AS c
    ON c.module_id = s.module_id
    AND c.instruction_id = s.instruction_id
    AND c.dimensions = substr(s.dimensions, strpos(s.dimensions, ',') + 1)
  WHERE s.stack_place > coalesce(c.state_count, 0)
  GROUP BY s.module_id, s.value_id
),
-- Programs that compute in 16 bits: most of their large temporary arrays are.
narrow AS MATERIALIZED (
  SELECT v.module_id
  FROM arrays AS v
  WHERE v.kind = 'temp'
    AND v.dimensions LIKE '%,%,%'
  GROUP BY v.module_id
  HAVING sum(v.size_bytes) FILTER (WHERE v.element_type IN ('bf16', 'f16'))
    > sum(v.size_bytes) FILTER (WHERE v.element_type = 'f32')
),
-- What updates wait for: a number computed from several gradients.
shaped AS MATERIALIZED (
  SELECT v.module_id, v.value_id, v.instruction_id, v.start_step, v.end_step
  FROM arrays AS v
  SEMI JOIN updating AS u ON u.module_id = v.module_id
  SEMI JOIN sizes_of_arguments AS a
    ON a.module_id = v.module_id
    AND a.sizes = list_sort(string_split(v.dimensions, ','))
  WHERE v.kind = 'temp'
    AND v.opcode <> 'while'
),
numbers AS MATERIALIZED (
  SELECT v.module_id, v.value_id, v.instruction_id, v.start_step, v.end_step
  FROM arrays AS v
  SEMI JOIN shaped AS s ON s.module_id = v.module_id
  WHERE v.dimensions = ''
    AND regexp_matches(v.element_type, '^b?f[0-9]')
    AND v.opcode NOT IN ('constant', 'parameter')
),
reading AS MATERIALIZED (
  SELECT u.module_id, u.value_id, u.instruction_id
  FROM (FROM shaped UNION ALL FROM numbers) AS v
  JOIN store.value_uses AS u USING (module_id, value_id)
),
parts_of_sums AS MATERIALIZED (
  SELECT n.module_id, n.value_id, s.value_id AS gradient_id
  FROM numbers AS n
  JOIN shaped AS s USING (module_id, instruction_id)
  UNION
  SELECT n.module_id, n.value_id, s.value_id
  FROM numbers AS n
  JOIN reading AS u USING (module_id, instruction_id)
  JOIN shaped AS s
    ON s.module_id = u.module_id
    AND s.value_id = u.value_id
),
sums AS (
  SELECT n.module_id, n.value_id, n.start_step
  FROM numbers AS n
  JOIN reading AS u USING (module_id, instruction_id)
  JOIN parts_of_sums AS p
    ON p.module_id = u.module_id
    AND p.value_id = u.value_id
  GROUP BY n.module_id, n.value_id, n.start_step
  HAVING count(DISTINCT p.gradient_id) > 1
  UNION
  SELECT n.module_id, n.value_id, n.start_step
  FROM sums AS s
  JOIN reading AS u USING (module_id, value_id)
  JOIN numbers AS n
    ON n.module_id = u.module_id
    AND n.instruction_id = u.instruction_id
),
read_with_sums AS MATERIALIZED (
  SELECT DISTINCT g.module_id, g.value_id, s.start_step
  FROM sums AS s
  JOIN reading AS r USING (module_id, value_id)
  JOIN reading AS u
    ON u.module_id = r.module_id
    AND u.instruction_id = r.instruction_id
  JOIN shaped AS g
    ON g.module_id = u.module_id
    AND g.value_id = u.value_id
  WHERE g.start_step < s.start_step
),
awaiting AS MATERIALIZED (
  SELECT module_id, value_id FROM read_with_sums
  UNION
  -- What an update reads a copy of, such as that in another memory space.
  SELECT g.module_id, g.value_id
  FROM parts_of_sums AS p
  JOIN shaped AS g
    ON g.module_id = p.module_id
    AND g.value_id = p.gradient_id
  SEMI JOIN read_with_sums AS r
    ON r.module_id = g.module_id
    AND r.start_step BETWEEN g.start_step AND g.end_step
),
marked AS (
  SELECT
    v.*, 'array' AS mark, CAST(NULL AS VARCHAR) AS subject,
    CAST(NULL AS BIGINT) AS part, CAST(NULL AS BIGINT) AS whole,
    0 AS is_apart, CAST(NULL AS INTEGER) AS from_step,
    CAST(NULL AS INTEGER) AS until_step
  FROM arrays AS v
  UNION ALL
  SELECT
    v.* REPLACE (p.name AS name), 'argument', NULL, NULL, NULL, 0, NULL, NULL
  FROM arrays AS v
  JOIN places AS p
    ON p.module_id = v.module_id
    AND p.allocation_id = v.allocation_id
  UNION ALL
  SELECT
    v.* REPLACE (min(p.name) AS name), 'cache', NULL, NULL, NULL, 0, NULL, NULL
  FROM arrays AS v
  JOIN places AS p
    ON p.module_id = v.module_id
    AND (
      p.allocation_id = v.allocation_id
      OR (v.kind = 'temp' AND p.dimensions LIKE '%,%' AND (
        v.dimensions = p.dimensions
        OR p.dimensions = split_part(p.dimensions, ',', 1) || ','
          || v.dimensions
      ))
    )
  GROUP BY ALL
  UNION ALL
  SELECT
    v.*, 'moved', n.arguments, 1, 1, 1, NULL, NULL
  FROM described AS v
  JOIN (
    SELECT
      p.module_id, p.output_id,
      CASE WHEN bool_or(v.opcode = 'while') THEN 0
        ELSE min(p.last_use_step) END AS last_use_step
    FROM pairs AS p
    JOIN result_places() AS r
      ON r.module_id = p.module_id
      AND r.output_index = p.output_index
    JOIN described AS v
      ON v.module_id = r.module_id
      AND v.allocation_id = r.allocation_id
      AND v.value_id = r.value_id
    GROUP BY p.module_id, p.output_id
  ) AS p
    ON p.module_id = v.module_id
    AND p.output_id = v.allocation_id
  JOIN named_pairs AS n
    ON n.module_id = v.module_id
    AND n.space_color = v.color
  WHERE v.start_step >= coalesce(p.last_use_step, 0)
  UNION ALL
  SELECT
    v.*, 'replicated',
    coalesce(t.op_name, 'parameter ' || t.parameter_number) || ' (' || t.shards
      || CASE WHEN t.shards = 1 THEN ' part' ELSE ' parts' END || ' for '
      || t.partitions || ' partitions)',
    t.saving_bytes, t.device_bytes, 0, NULL, NULL
  FROM described AS v
  JOIN allocations AS a
    ON a.module_id = v.module_id
    AND a.allocation_id = v.allocation_id
  JOIN (
    SELECT DISTINCT
      m.module_id, t.parameter_number, t.op_name, t.shards, t.partitions,
      t.saving_bytes, t.device_bytes
    FROM replicated_tensors(top := NULL) AS t
    JOIN selected_modules() AS m
      ON m.program = t.program
      AND m.module_number IS NOT DISTINCT FROM t.module_number
      AND m.rank IS NOT DISTINCT FROM t.rank
  ) AS t
    ON t.module_id = a.module_id
    AND t.parameter_number = a.parameter_number
    AND t.device_bytes = a.size_bytes
  UNION ALL
  SELECT
    v.*, 'padded', 'all values of ' || v.shape,
    v.size_bytes - v.logical_bytes, v.size_bytes, 0, NULL, NULL
  FROM arrays AS v
  WHERE v.size_bytes > v.logical_bytes
    -- A scalar or a vector fills no tile, whatever its length.
    AND v.dimensions LIKE '%,%'
    AND v.shape LIKE '%:T(%'
  UNION ALL
  SELECT
    s.* EXCLUDE (idle_from_step, idle_until_step), 'saved',
    'all saved activations', 1, 1, 0, NULL, NULL
  FROM saved AS s
  JOIN platforms AS p USING (module_id)
  WHERE p.platform IS DISTINCT FROM 'cpu'
  UNION ALL
  SELECT
    s.* EXCLUDE (idle_from_step, idle_until_step), 'offloaded',
    'all saved activations', 1, 1, 0, s.idle_from_step, s.idle_until_step
  FROM saved AS s
  JOIN platforms AS p USING (module_id)
  WHERE s.idle_from_step IS NOT NULL
    AND p.platform IN ('tpu', 'gpu', 'rocm')
  UNION ALL
  SELECT
    s.* EXCLUDE (idle_from_step, idle_until_step), 'kept',
    'arrays that ' || k.loop_name || ' keeps', 1, 1, 0, NULL, NULL
  FROM saved AS s
  JOIN kept AS k
    ON k.module_id = s.module_id
    AND k.value_id = s.value_id
  UNION ALL
  SELECT v.*, 'activation', NULL, NULL, NULL, 0, NULL, NULL
  FROM arrays AS v
  SEMI JOIN updating AS u ON u.module_id = v.module_id
  SEMI JOIN sizes_of_arguments AS w ON w.module_id = v.module_id
  ANTI JOIN sizes_of_arguments AS a
    ON a.module_id = v.module_id
    AND a.sizes = list_sort(string_split(v.dimensions, ','))
  ANTI JOIN gathered_values() AS g
    ON g.module_id = v.module_id
    AND g.value_id = v.value_id
  LEFT JOIN arguments AS i
    ON i.module_id = v.module_id
    AND i.allocation_id = v.allocation_id
  WHERE v.dimensions LIKE '%,%'
    AND (v.kind = 'temp' OR coalesce(i.is_input, FALSE))
  UNION ALL
  SELECT
    v.*, 'awaiting', 'all gradients', 1, 1, 0, v.start_step + 1, NULL
  FROM arrays AS v
  SEMI JOIN awaiting AS w
    ON w.module_id = v.module_id
    AND w.value_id = v.value_id
  UNION ALL
  SELECT v.*, 'wide', NULL, NULL, NULL, 0, NULL, NULL
  FROM arrays AS v
  SEMI JOIN narrow AS n ON n.module_id = v.module_id
  ANTI JOIN sizes_of_arguments AS a
    ON a.module_id = v.module_id
    AND a.sizes = list_sort(string_split(v.dimensions, ','))
  WHERE v.kind IN ('temp', 'live_out')
    AND v.element_type = 'f32'
    AND v.dimensions LIKE '%,%'
  UNION ALL
  SELECT v.*, 'given', NULL, NULL, NULL, 0, NULL, NULL
  FROM arrays AS v
  LEFT JOIN indexed AS i
    ON i.module_id = v.module_id
    AND i.value_id = v.value_id
  ANTI JOIN windowed AS w
    ON w.module_id = v.module_id
    AND w.value_id = v.value_id
  WHERE v.dimensions <> ''
    AND (v.kind = 'constant' OR i.value_id IS NOT NULL)
  UNION ALL
  SELECT v.*, 'reported', NULL, NULL, NULL, 0, u.last_step + 1, NULL
  FROM results AS v
  LEFT JOIN uses AS u
    ON u.module_id = v.module_id
    AND u.value_id = v.value_id
    AND u.mark = 'reported'
  UNION ALL
  SELECT
    v.*, 'gathered', NULL, NULL, NULL, 0, v.start_step + 1, u.first_step - 1
  FROM arrays AS v
  JOIN uses AS u
    ON u.module_id = v.module_id
    AND u.value_id = v.value_id
    AND u.mark = 'gathered'
  WHERE u.first_step > v.start_step + 1
)
SELECT
  m.module_id, m.color, m.value_id, m.mark, m.subject, m.kind, m.opcode,
  m.name, m.instruction, m.shape, m.element_type, m.dimensions, m.size_bytes,
  m.part, m.whole, CAST(m.is_apart AS BIGINT) AS is_apart, m.from_step,
  m.until_step
FROM marked AS m
