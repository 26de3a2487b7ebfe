-- title: Programs that share a name
-- question: Which modules of one name are the same program, on all ranks and
--   in all runs?
-- definition: A name stands for several programs if some rank and host of a
--   run has modules of that name that were compiled from different graphs, or
--   with different entry shapes: lambdas, or one function for several sizes.
--   Of these, modules are one program if their entry shapes and num_partitions
--   (program_key) and the opcodes before optimisations (opcode_mixes) are
--   equal; the opcodes only if those of all modules with that key are known.
--   Any other name is one program, whatever its shapes. A module without a
--   before_optimizations snapshot is compared by its own entry shapes.
-- grain: module occurrence with a buffer assignment
-- param run_ids BIGINT[] = NULL from 0: run_id of the runs; NULL for all.
-- param program
-- column run_id
-- column path
-- column part INTEGER id neutral: Number of the module in that file, from 0.
-- column program
-- column rank
-- column folder VARCHAR name neutral: Folder of its file, with a slash.
-- column module_number
-- column kind BIGINT id neutral: Programs of one name and kind are the same; 0
--   if the name is one program.
-- column program_key BIGINT id neutral: Of program, entry shapes and
--   partitions, of what it was compiled from where that is known.
-- column source_graph BIGINT id neutral: graph_fingerprint of what it was
--   compiled from.
WITH sources AS MATERIALIZED (
  SELECT s.* FROM compiled_sources() AS s
),
compiled AS MATERIALIZED (
  SELECT
    m.run_id, m.path, m.part, m.program AS program_name, m.rank, m.folder,
    m.module_number, s.module_id AS source_id, s.graph_fingerprint,
    coalesce(s.program_key, m.program_key) AS own_key
  FROM modules AS m
  LEFT JOIN sources AS s
    ON s.run_id = m.run_id
    AND s.program = m.program
    AND s.rank IS NOT DISTINCT FROM m.rank
    AND s.folder = m.folder
    AND s.module_number = m.module_number
  WHERE m.has_assignment
    AND ($program IS NULL OR m.program = $program)
    AND ($run_ids IS NULL OR m.run_id IN (SELECT unnest($run_ids)))
),
shared AS MATERIALIZED (
  SELECT DISTINCT c.program_name
  FROM compiled AS c
  GROUP BY c.run_id, c.program_name, c.rank, c.folder
  HAVING count(*) > 1
    AND (
      min(c.own_key) < max(c.own_key)
      OR min(c.graph_fingerprint) < max(c.graph_fingerprint)
    )
),
mixes AS (
  SELECT x.*
  FROM opcode_mixes(module_ids := (
    SELECT list(DISTINCT c.source_id)
    FROM compiled AS c
    SEMI JOIN shared AS s USING (program_name)
    WHERE c.source_id IS NOT NULL
  )) AS x
)
SELECT
  c.run_id, c.path, c.part, c.program_name AS program, c.rank, c.folder,
  c.module_number,
  CASE
    WHEN s.program_name IS NULL THEN 0
    ELSE CAST(hash(
      c.own_key,
      -- Where one lacks its instructions, shapes have to do for all.
      CASE
        WHEN count(x.opcode_mix) OVER same_shapes
          = count(*) OVER same_shapes
          THEN x.opcode_mix
      END
    ) >> 1 AS BIGINT)
  END AS kind,
  c.own_key AS program_key, c.graph_fingerprint AS source_graph
FROM compiled AS c
LEFT JOIN shared AS s USING (program_name)
LEFT JOIN mixes AS x ON x.module_id = c.source_id
WINDOW same_shapes AS (PARTITION BY c.program_name, c.own_key)
