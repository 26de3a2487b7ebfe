-- title: Windows of asynchronous operations
-- question: How long are asynchronous buffers held, and how much work hides
--   them?
-- definition: From start to done (async_pairs). held_bytes are the temporary
--   values that the start defines, tables of tuples left out. hides_flop and
--   hides_bytes are the flop (dot_work) and the logical result sizes of the
--   instructions scheduled between start and done. is_at_peak: the peak of
--   colour 0 lies in the window.
-- grain: module occurrence, start
-- needs: final_modules, async_pairs, value_places, memory_profile, schedule,
--   instructions, dot_work
-- param run
-- param program
-- param top
-- column run
-- column program
-- column module_number
-- column rank
-- column instruction VARCHAR name neutral: The start.
-- column done_instruction VARCHAR name neutral: The done.
-- column wrapped VARCHAR name neutral: What is done asynchronously.
-- column start_at_step INTEGER step neutral: Step of the start.
-- column done_at_step INTEGER step neutral: Step of the done.
-- column window_steps BIGINT steps neutral: Steps from start to done.
-- column held_bytes BIGINT bytes lower_is_better: Temporary values the start
--   defines.
-- column hides_flop BIGINT flop higher_is_better: Work between them.
-- column hides_bytes BIGINT bytes higher_is_better: Results written between
--   them.
-- column is_at_peak BOOLEAN flag neutral: Whether the peak of colour 0 is in
--   between.
WITH windows AS (
  SELECT *
  FROM async_pairs(run := $run, program := $program)
  WHERE done_at_step IS NOT NULL
    AND start_at_step IS NOT NULL
),
held AS (
  SELECT
    w.module_id, w.instruction_id, sum(v.size_bytes) AS held_bytes
  FROM windows AS w
  JOIN value_places(run := $run, program := $program) AS v
    USING (module_id, instruction_id)
  WHERE v.kind = 'temp'
    AND v.shape NOT LIKE '(%'
  GROUP BY w.module_id, w.instruction_id
),
scheduled AS MATERIALIZED (
  SELECT s.module_id, s.step, s.instruction_id
  FROM (SELECT DISTINCT module_id FROM windows) AS m
  JOIN store.schedule AS s USING (module_id)
),
sized AS MATERIALIZED (
  SELECT i.module_id, i.instruction_id, f.logical_bytes
  FROM (SELECT DISTINCT module_id FROM windows) AS m
  JOIN store.instructions AS i USING (module_id)
  JOIN store.instruction_forms AS f USING (form_id)
),
steps AS MATERIALIZED (
  SELECT
    s.module_id, s.step, i.logical_bytes, coalesce(d.flop, 0) AS flop
  FROM scheduled AS s
  JOIN sized AS i USING (module_id, instruction_id)
  LEFT JOIN dot_work(run := $run, program := $program) AS d
    ON d.module_id = s.module_id
    AND d.instruction_id = s.instruction_id
),
sums AS (
  SELECT
    module_id, step,
    sum(logical_bytes) OVER (PARTITION BY module_id ORDER BY step)
      AS bytes_until,
    sum(flop) OVER (PARTITION BY module_id ORDER BY step) AS flop_until
  FROM steps
)
SELECT
  m.run, m.program, m.module_number, m.rank, w.instruction, w.done_instruction,
  w.wrapped, w.start_at_step, w.done_at_step,
  CAST(w.done_at_step - w.start_at_step AS BIGINT) AS window_steps,
  CAST(coalesce(h.held_bytes, 0) AS BIGINT) AS held_bytes,
  CAST(b.flop_until - a.flop_until AS BIGINT) AS hides_flop,
  CAST(b.bytes_until - a.bytes_until AS BIGINT) AS hides_bytes,
  coalesce(p.peak_step BETWEEN w.start_at_step AND w.done_at_step, FALSE)
    AS is_at_peak
FROM final_modules(run := $run, program := $program) AS m
JOIN windows AS w USING (module_id)
LEFT JOIN held AS h USING (module_id, instruction_id)
LEFT JOIN sums AS a
  ON a.module_id = w.module_id
  AND a.step = w.start_at_step
LEFT JOIN sums AS b
  ON b.module_id = w.module_id
  AND b.step = w.done_at_step - 1
LEFT JOIN memory_profile AS p
  ON p.module_id = w.module_id
  AND p.color = 0
ORDER BY
  held_bytes DESC, window_steps DESC, m.program, m.module_number, m.rank,
  w.instruction_id
LIMIT $top
