-- title: Asynchronous operations
-- question: How long are asynchronous buffers held, and how much work overlaps
--   with them?
-- definition: From start to done (async_pairs). held_bytes are the temporary
--   values that the start, or the asynchronous computation that it calls,
--   defines, in the memory space with the most of them; tables of pointers of
--   tuples are left out. overlapped_flop is the work (dot_work) of the
--   instructions of the same computation scheduled between start and done,
--   with what they call: of a conditional the greatest branch, of a loop one
--   iteration. overlapped_bytes are the logical sizes of the values that they
--   write, by the buffer assignment: the arrays of a tuple count; instructions
--   that only name or pass on a value do not, nor parameters, constants,
--   asynchronous operations (with everything that fusions of async_collectives
--   carry along) and custom calls that write nothing (ConcatBitcast,
--   AllocateBuffer). is_at_peak: the peak of that memory space, or of color 0
--   without held_bytes, lies between start and done.
-- grain: module occurrence, start
-- leading: program, instruction, window_steps, held_bytes, overlapped_flop,
--   overlapped_bytes, is_at_peak, done_instruction
-- param run
-- param program
-- param top
-- column run
-- column program
-- column module_number
-- column rank
-- column instruction VARCHAR name neutral: The start instruction.
-- column done_instruction VARCHAR name neutral: The done instruction.
-- column wrapped_opcode VARCHAR name neutral: Operation that runs
--   asynchronously.
-- column start_at_step INTEGER step neutral: Step of the start.
-- column done_at_step INTEGER step neutral: Step of the done.
-- column window_steps BIGINT steps neutral: Steps from start to done.
-- column color
-- column space_name
-- column held_bytes BIGINT bytes lower_is_better: Temporary values that the
--   start, or the computation that it calls, defines in this memory space.
-- column overlapped_flop BIGINT flop higher_is_better: Work scheduled between
--   start and done.
-- column overlapped_bytes BIGINT bytes higher_is_better: Results written
--   between start and done.
-- column is_at_peak BOOLEAN flag neutral: Whether the peak lies between start
--   and done.
WITH windows AS (
  SELECT *
  FROM async_pairs()
  WHERE done_at_step IS NOT NULL
    AND start_at_step IS NOT NULL
),
placed AS MATERIALIZED (
  -- Once: for what a start holds, and for what is written meanwhile.
  SELECT
    v.module_id, v.instruction_id, v.shape_index, v.kind, v.color,
    v.size_bytes, v.logical_bytes, v.is_phi
  FROM value_places() AS v
  WHERE v.shape NOT LIKE '(%'
),
modules_there AS MATERIALIZED (
  -- Unnested, they are taken for a few, and hash tables are made of these
  -- rather than of what all modules have.
  SELECT unnest(list(DISTINCT module_id)) AS module_id FROM windows
),
instructions_there AS MATERIALIZED (
  SELECT
    i.module_id, i.instruction_id, i.computation_id, i.form_id, f.opcode,
    f.custom_call_target
  FROM modules_there AS m
  JOIN store.instructions AS i USING (module_id)
  LEFT JOIN store.instruction_forms AS f USING (form_id)
),
scheduled AS MATERIALIZED (
  SELECT s.module_id, s.step, s.instruction_id
  FROM modules_there AS m
  JOIN store.schedule AS s USING (module_id)
),
asynchronous AS MATERIALIZED (
  SELECT c.module_id, c.computation_id
  FROM modules_there AS m
  JOIN computations AS c USING (module_id)
  WHERE c.kind = 'async'
),
holders AS (
  SELECT w.module_id, w.instruction_id, w.instruction_id AS definer_id
  FROM windows AS w
  UNION
  SELECT w.module_id, w.instruction_id, i.instruction_id
  FROM windows AS w
  JOIN called_computations AS c USING (module_id, instruction_id)
  JOIN asynchronous AS a
    ON a.module_id = c.module_id
    AND a.computation_id = c.computation_id
  JOIN instructions_there AS i
    ON i.module_id = a.module_id
    AND i.computation_id = a.computation_id
),
carried AS MATERIALIZED (
  -- Fusions that carry a collective along pass its parts on, each in place of
  -- an operand: output_to_operand_aliasing={{1}: (0, {}), ...}
  SELECT DISTINCT
    a.module_id, a.fusion_id AS instruction_id, a.part, f.attributes
  FROM async_collectives() AS a
  JOIN instructions_there AS i
    ON i.module_id = a.module_id
    AND i.instruction_id = a.fusion_id
  LEFT JOIN store.instruction_forms AS f USING (form_id)
),
held AS (
  SELECT
    h.module_id, h.instruction_id, p.color, sum(p.size_bytes) AS held_bytes
  FROM holders AS h
  JOIN placed AS p
    ON p.module_id = h.module_id
    AND p.instruction_id = h.definer_id
  ANTI JOIN carried AS c
    ON c.module_id = p.module_id
    AND c.instruction_id = p.instruction_id
    AND contains(c.attributes, p.shape_index || ': (')
  WHERE p.kind = 'temp'
  GROUP BY h.module_id, h.instruction_id, p.color
  QUALIFY row_number() OVER (
    PARTITION BY h.module_id, h.instruction_id
    ORDER BY sum(p.size_bytes) DESC, p.color
  ) = 1
),
written AS (
  SELECT
    i.module_id, i.instruction_id, sum(p.logical_bytes) AS written_bytes
  FROM instructions_there AS i
  JOIN placed AS p USING (module_id, instruction_id)
  ANTI JOIN asynchronous AS a USING (module_id, computation_id)
  ANTI JOIN carried AS c
    ON c.module_id = p.module_id
    AND c.instruction_id = p.instruction_id
    AND (
      c.part <> 'during'
      OR contains(c.attributes, p.shape_index || ': (')
    )
  WHERE NOT p.is_phi
    AND i.opcode NOT IN ('parameter', 'constant')
    AND i.opcode NOT LIKE '%-start'
    AND coalesce(i.custom_call_target, '')
      NOT IN ('ConcatBitcast', 'AllocateBuffer')
  GROUP BY i.module_id, i.instruction_id
),
steps AS MATERIALIZED (
  SELECT
    s.module_id, s.step, coalesce(w.written_bytes, 0) AS written_bytes
  FROM scheduled AS s
  LEFT JOIN written AS w USING (module_id, instruction_id)
),
worked AS MATERIALIZED (
  SELECT d.module_id, i.computation_id, s.step, d.flop
  FROM dot_work() AS d
  JOIN scheduled AS s USING (module_id, instruction_id)
  JOIN instructions_there AS i USING (module_id, instruction_id)
),
overlapped AS (
  SELECT w.module_id, w.instruction_id, sum(d.flop) AS flop
  FROM windows AS w
  JOIN instructions_there AS i USING (module_id, instruction_id)
  JOIN worked AS d
    ON d.module_id = w.module_id
    AND d.computation_id = i.computation_id
    AND d.step > w.start_at_step
    AND d.step < w.done_at_step
  GROUP BY w.module_id, w.instruction_id
),
sums AS (
  SELECT
    module_id, step,
    sum(written_bytes) OVER (PARTITION BY module_id ORDER BY step)
      AS bytes_until
  FROM steps
)
SELECT
  m.run, m.program, m.module_number, m.rank, w.instruction, w.done_instruction,
  w.wrapped_opcode, w.start_at_step, w.done_at_step,
  CAST(w.done_at_step - w.start_at_step AS BIGINT) AS window_steps,
  h.color, coalesce(s.space_name, 'color_' || h.color) AS space_name,
  CAST(coalesce(h.held_bytes, 0) AS BIGINT) AS held_bytes,
  CAST(least(coalesce(o.flop, 0), 9223372036854775807) AS BIGINT)
    AS overlapped_flop,
  CAST(b.bytes_until - a.bytes_until AS BIGINT) AS overlapped_bytes,
  coalesce(p.peak_step BETWEEN w.start_at_step AND w.done_at_step, FALSE)
    AS is_at_peak
FROM final_modules() AS m
JOIN windows AS w USING (module_id)
LEFT JOIN held AS h USING (module_id, instruction_id)
LEFT JOIN overlapped AS o USING (module_id, instruction_id)
LEFT JOIN memory_spaces AS s
  ON s.platform = m.platform
  AND s.color = h.color
LEFT JOIN sums AS a
  ON a.module_id = w.module_id
  AND a.step = w.start_at_step
LEFT JOIN sums AS b
  ON b.module_id = w.module_id
  AND b.step = w.done_at_step - 1
LEFT JOIN memory_profile AS p
  ON p.module_id = w.module_id
  AND p.color = coalesce(h.color, 0)
ORDER BY
  held_bytes DESC, window_steps DESC, m.program, m.module_number, m.rank,
  w.instruction_id
LIMIT $top
