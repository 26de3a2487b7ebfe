-- title: Recomputed instructions
-- question: Which instructions are recomputed, how often, and at what cost?
-- definition: Recomputed instructions in the last snapshot of every module,
--   made by the compiler (.remat in the name) or by the framework (op_name
--   with a mark of path_marks). Instructions that only name or pass on a
--   value, such as bitcasts, are left out. original is the name up to .remat,
--   or else the op_path. recomputed_bytes are the logical sizes of their
--   results (of a tuple, its arrays), flop the work of dot_work, each counted
--   once; total_flop multiplies it by the known trip counts of the loops
--   around them, and greatest_flop leaves out branches of conditionals with
--   less work than others (lesser_branches). For a fusion, the fused
--   instructions count one by one (in_fusion_count); the fusion itself counts
--   if none of them has its original, as when the compiler recomputes it
--   whole.
-- grain: module occurrence, made by, original
-- leading: program, made_by, original, clone_count, recomputed_bytes,
--   total_flop
-- param run
-- param program
-- param top
-- column run
-- column program
-- column module_number
-- column rank
-- column made_by VARCHAR name neutral: compiler or framework.
-- column original VARCHAR name neutral: Instruction that is recomputed.
-- column clone_count BIGINT count lower_is_better: Number of recomputed
--   instructions.
-- column in_fusion_count BIGINT count neutral: Clones inside fusions.
-- column recomputed_bytes BIGINT bytes lower_is_better: Sizes of their
--   results.
-- column flop BIGINT flop lower_is_better: Work in dots and convolutions, each
--   once.
-- column total_flop BIGINT flop lower_is_better: The same, times the trip
--   counts of their loops.
-- column greatest_flop BIGINT flop lower_is_better: The same, of a conditional
--   only the branch with the most work, as XLA's cost analysis counts.
-- column times_known BOOLEAN flag neutral: Whether the trip counts of all
--   loops around it are known.
WITH instructions_there AS MATERIALIZED (
  -- Fixed, lest the patterns are matched with the names of all runs.
  SELECT
    i.module_id, i.instruction_id, i.computation_id, i.name, f.opcode,
    f.op_name,
    -- What only starts has its operands in its tuple, too.
    coalesce(
      CASE WHEN f.opcode NOT LIKE '%-start' THEN t.array_bytes END,
      f.logical_bytes
    ) AS logical_bytes
  FROM final_contents() AS m
  JOIN store.instructions AS i USING (module_id)
  JOIN store.instruction_forms AS f USING (form_id)
  LEFT JOIN tuple_sizes() AS t USING (shape)
),
clones AS MATERIALIZED (
  SELECT DISTINCT
    i.module_id, i.instruction_id, i.computation_id, i.opcode, i.logical_bytes,
    coalesce(w.flop, 0) AS flop, coalesce(t.times, 1) AS times,
    coalesce(t.is_known, FALSE) AS times_known,
    coalesce(c.kind = 'fusion', FALSE) AS is_fused,
    l.computation_id IS NOT NULL AS is_lesser,
    CASE WHEN i.name LIKE '%.remat%' THEN 'compiler' ELSE 'framework' END
      AS made_by,
    CASE WHEN i.name LIKE '%.remat%'
      THEN regexp_replace(i.name, '\.remat.*$', '') ELSE o.op_path END
        AS original
  FROM instructions_there AS i
  JOIN op_paths() AS o
    ON o.module_id = i.module_id
    AND o.instruction_id = i.instruction_id
  LEFT JOIN computations AS c
    ON c.module_id = i.module_id
    AND c.computation_id = i.computation_id
  LEFT JOIN dot_work() AS w
    ON w.module_id = i.module_id
    AND w.instruction_id = i.instruction_id
    AND (
      i.opcode IN ('dot', 'convolution', 'custom-call')
      OR (i.name LIKE '%.remat%' AND i.opcode NOT IN ('conditional', 'while'))
    )
  LEFT JOIN multiplicity() AS t
    ON t.module_id = i.module_id
    AND t.computation_id = i.computation_id
  LEFT JOIN lesser_branches() AS l
    ON l.module_id = i.module_id
    AND l.computation_id = i.computation_id
  WHERE (i.name LIKE '%.remat%' OR o.is_recomputed)
    AND i.opcode NOT IN (
      'parameter', 'constant', 'tuple', 'get-tuple-element', 'bitcast',
      'opt-barrier'
    )
),
fusions AS (
  -- Of the same original as what they fuse: they have its op_name.
  SELECT DISTINCT f.module_id, f.instruction_id
  FROM clones AS f
  JOIN called_computations AS d USING (module_id, instruction_id)
  JOIN clones AS c
    ON c.module_id = d.module_id
    AND c.computation_id = d.computation_id
    AND c.made_by = f.made_by
    AND c.original = f.original
  WHERE f.opcode = 'fusion'
)
SELECT
  m.run, m.program, m.module_number, m.rank, c.made_by, c.original,
  count(*) AS clone_count,
  count(*) FILTER (WHERE c.is_fused) AS in_fusion_count,
  CAST(coalesce(sum(c.logical_bytes), 0) AS BIGINT) AS recomputed_bytes,
  CAST(least(sum(c.flop), 9223372036854775807) AS BIGINT) AS flop,
  CAST(least(
    sum(CAST(c.flop AS HUGEINT) * c.times), 9223372036854775807
  ) AS BIGINT) AS total_flop,
  CAST(least(coalesce(
    sum(CAST(c.flop AS HUGEINT) * c.times) FILTER (WHERE NOT c.is_lesser), 0
  ), 9223372036854775807) AS BIGINT) AS greatest_flop,
  bool_and(c.times_known) AS times_known
FROM final_modules() AS m
JOIN clones AS c USING (module_id)
ANTI JOIN fusions AS f USING (module_id, instruction_id)
GROUP BY
  m.run, m.program, m.module_number, m.rank, m.module_id, m.path, c.made_by,
  c.original
ORDER BY
  total_flop DESC, recomputed_bytes DESC, m.program, m.module_number, m.rank,
  c.made_by, c.original
LIMIT $top
