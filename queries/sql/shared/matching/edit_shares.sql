-- title: What of a difference follows from which edit
-- question: How many bytes of the difference of two compilations follow from
--   each edit of the source, and how many from none?
-- definition: Every changed row of buffer_changes is in one row. It follows
--   from an edit of source_edits whose paths hold the framework path of its
--   buffer, as far as the other side lacks what descends from the edit.
--   Without regard to paths, changes of part alias follow from an edit of
--   donations, constants from one of constants, results from one of outputs.
--   Where arguments differ in size or type, resized and retyped buffers, and
--   arguments, follow from the inputs. A buffer without a path has those of
--   its operands, else of its readers. several: from more than one of these;
--   unexplained: from none.
-- grain: pair of compilations, memory space, origin, edit
-- param base_runs BIGINT[] = NULL from 0: run_id of each base module.
-- param base_places BIGINT[] = NULL from 0: Their places in the run, see
--   compilations.
-- param candidate_runs BIGINT[] = NULL from 0: run_id of each candidate
--   module.
-- param candidate_places BIGINT[] = NULL from 0: Their places.
-- column pair BIGINT id neutral: Position of the pair in the lists.
-- column color
-- column origin VARCHAR name neutral: edit, inputs, several or unexplained.
-- column place BIGINT id neutral: Place of the edit in source_edits; NULL for
--   other origins.
-- column sentence VARCHAR text neutral: What was edited.
-- column delta_bytes BIGINT bytes lower_is_better: Sum of the changes.
-- column buffer_count BIGINT count neutral: Rows of buffer_changes.
WITH asked AS MATERIALIZED (
  -- Arguments are read inside of macros, where no CTE may have their names.
  SELECT
    unnest(range(1, len($base_runs) + 1)) AS pair,
    unnest($base_runs) AS base_run, unnest($base_places) AS base_number,
    unnest($candidate_runs) AS own_run, unnest($candidate_places) AS own_number
),
compiled AS MATERIALIZED (
  SELECT c.*
  FROM compilations(run_ids := (
    SELECT coalesce(list_distinct(list(base_run) || list(own_run)), [])
    FROM asked
  )) AS c
),
pairs AS MATERIALIZED (
  SELECT
    a.pair, a.base_run, a.own_run, b.module_id AS base_id,
    c.module_id AS own_id, b.source_id AS base_source,
    c.source_id AS own_source, d.arrays <> f.arrays AS has_other_inputs
  FROM asked AS a
  JOIN compiled AS b
    ON b.run_id = a.base_run
    AND b.place = a.base_number
  JOIN compiled AS c
    ON c.run_id = a.own_run
    AND c.place = a.own_number,
  LATERAL argument_arrays(shapes := b.source_shapes) AS d,
  LATERAL argument_arrays(shapes := c.source_shapes) AS f
),
edits AS MATERIALIZED (
  SELECT e.*
  FROM source_edits(
    base_runs := (SELECT list(p.base_run ORDER BY p.pair) FROM pairs AS p),
    base_ids := (SELECT list(p.base_source ORDER BY p.pair) FROM pairs AS p),
    candidate_runs := (SELECT list(p.own_run ORDER BY p.pair) FROM pairs AS p),
    candidate_ids := (
      SELECT list(p.own_source ORDER BY p.pair) FROM pairs AS p
    ),
    with_paths := TRUE
  ) AS e
),
changed AS MATERIALIZED (
  SELECT
    c.pair, c.color AS space_color, c.place AS number, c.part, c.kind,
    c.delta_bytes, c.base_op_path, c.candidate_op_path, c.base_instruction,
    c.candidate_instruction,
    coalesce(c.candidate_opcode, c.base_opcode) AS opcode,
    coalesce(c.candidate_parameter, c.base_parameter) AS parameter
  FROM buffer_changes(
    base_ids := (SELECT list(p.base_id ORDER BY p.pair) FROM pairs AS p),
    candidate_ids := (SELECT list(p.own_id ORDER BY p.pair) FROM pairs AS p)
  ) AS c
  WHERE c.part <> 'same'
),
sides AS MATERIALIZED (
  SELECT
    c.pair, c.space_color, c.number, FALSE AS is_own, p.base_id AS module_id,
    c.base_instruction AS name, c.base_op_path AS op_path
  FROM changed AS c
  JOIN pairs AS p USING (pair)
  WHERE c.base_instruction IS NOT NULL
  UNION ALL
  SELECT
    c.pair, c.space_color, c.number, TRUE, p.own_id, c.candidate_instruction,
    c.candidate_op_path
  FROM changed AS c
  JOIN pairs AS p USING (pair)
  WHERE c.candidate_instruction IS NOT NULL
),
-- A copy or fusion without a path has those of its operands, else of its
-- readers. Fixed, lest the instructions of all modules meet.
unnamed AS MATERIALIZED (
  SELECT DISTINCT i.module_id, i.instruction_id, i.name
  FROM (
    SELECT DISTINCT module_id, name FROM sides WHERE op_path IS NULL
  ) AS s
  JOIN store.instructions AS i USING (module_id, name)
),
links AS MATERIALIZED (
  SELECT e.module_id, e.instruction_id, e.operand_id
  FROM (SELECT DISTINCT module_id FROM unnamed)
  JOIN operands AS e USING (module_id)
),
neighbours AS MATERIALIZED (
  SELECT u.module_id, u.name, TRUE AS is_operand, e.operand_id AS other_id
  FROM unnamed AS u
  JOIN links AS e USING (module_id, instruction_id)
  WHERE e.operand_id IS NOT NULL
  UNION
  SELECT u.module_id, u.name, FALSE, e.instruction_id
  FROM unnamed AS u
  JOIN links AS e
    ON e.module_id = u.module_id
    AND e.operand_id = u.instruction_id
),
borrowed AS (
  SELECT n.module_id, n.name, f.op_name AS op_path
  FROM neighbours AS n
  JOIN store.instructions AS i
    ON i.module_id = n.module_id
    AND i.instruction_id = n.other_id
  JOIN store.instruction_forms AS f USING (form_id)
  WHERE f.op_name <> ''
    AND f.opcode <> 'parameter'
  QUALIFY dense_rank() OVER (
    PARTITION BY n.module_id, n.name ORDER BY n.is_operand DESC
  ) = 1
),
-- XLA puts the path of a call before the paths of what it inlines.
buffer_paths AS MATERIALIZED (
  SELECT
    s.pair, s.space_color, s.number, s.is_own,
    array_to_string(list_filter(
      string_split(coalesce(s.op_path, b.op_path), '/'),
      lambda p: NOT regexp_full_match(
        p, 'p?jit\(.*\)|while|body|cond|closed_call|branch_\d+_fun'
      )
    ), '/') AS op_path
  FROM sides AS s
  LEFT JOIN borrowed AS b
    ON b.module_id = s.module_id
    AND b.name = s.name
    AND s.op_path IS NULL
  WHERE coalesce(s.op_path, b.op_path) IS NOT NULL
),
edit_paths AS MATERIALIZED (
  SELECT DISTINCT
    e.pair, e.place, e.is_own,
    array_to_string(list_filter(
      string_split(regexp_replace(e.op_name, '\[\w+=.*\]$', ''), '/'),
      lambda p: NOT regexp_full_match(
        p, 'p?jit\(.*\)|while|body|cond|closed_call|branch_\d+_fun'
      )
    ), '/') AS op_path
  FROM (
    SELECT
      pair, place, FALSE AS is_own,
      unnest(string_split(base_paths, chr(10))) AS op_name
    FROM edits
    UNION ALL
    SELECT pair, place, TRUE, unnest(string_split(candidate_paths, chr(10)))
    FROM edits
  ) AS e
  WHERE e.op_name <> ''
),
-- What the kind of a change says, whatever the path. The inputs are nobody's
-- edit: place 0.
certain AS MATERIALIZED (
  SELECT c.pair, c.space_color, c.number, e.place
  FROM changed AS c
  JOIN edits AS e USING (pair)
  WHERE CASE e.change
    WHEN 'donation' THEN c.part = 'alias'
    WHEN 'constant' THEN c.opcode = 'constant' OR c.kind = 'constant'
    WHEN 'output' THEN c.kind = 'live_out' AND c.part IN ('new', 'gone')
  END
  UNION ALL
  SELECT c.pair, c.space_color, c.number, 0
  FROM changed AS c
  JOIN pairs AS p USING (pair)
  WHERE p.has_other_inputs
    AND (
      c.part IN ('resized', 'retyped', 'repadded')
      OR c.parameter IS NOT NULL AND c.part <> 'alias'
    )
),
origins AS (
  SELECT c.pair, c.space_color, c.number, c.place FROM certain AS c
  UNION
  SELECT b.pair, b.space_color, b.number, p.place
  FROM buffer_paths AS b
  JOIN edit_paths AS p USING (pair, is_own, op_path)
  ANTI JOIN certain AS c USING (pair, space_color, number)
),
counted AS (
  SELECT
    c.pair, c.space_color, c.number, c.delta_bytes,
    count(o.place) AS origin_count, min(o.place) AS first_place
  FROM changed AS c
  LEFT JOIN origins AS o USING (pair, space_color, number)
  GROUP BY c.pair, c.space_color, c.number, c.delta_bytes
),
summed AS (
  SELECT
    c.pair, c.space_color,
    CASE
      WHEN c.origin_count = 0 THEN 'unexplained'
      WHEN c.origin_count > 1 THEN 'several'
      WHEN c.first_place = 0 THEN 'inputs'
      ELSE 'edit'
    END AS origin,
    CASE WHEN origin = 'edit' THEN c.first_place END AS place,
    c.delta_bytes, 1 AS buffer_count
  FROM counted AS c
  UNION ALL
  -- An edit that nothing follows from has a row, too.
  SELECT s.pair, s.space_color, 'edit', e.place, 0, 0
  FROM (SELECT DISTINCT pair, space_color FROM changed) AS s
  JOIN edits AS e USING (pair)
)
SELECT
  s.pair, s.space_color AS color, s.origin, s.place, e.sentence,
  CAST(sum(s.delta_bytes) AS BIGINT) AS delta_bytes,
  CAST(sum(s.buffer_count) AS BIGINT) AS buffer_count
FROM summed AS s
LEFT JOIN edits AS e
  ON e.pair = s.pair
  AND e.place = s.place
GROUP BY ALL
