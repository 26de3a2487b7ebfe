-- title: Modules that the compiler refused
-- question: Which modules did the compiler give up for lack of memory?
-- definition: Modules of which the dump has an oom_intermediate_module, which
--   libtpu writes when a program does not fit. If a log of the run reports
--   that the compilation of a program failed (form program_memory), also the
--   modules of that program.
-- grain: run, folder, rank, program, module number, memory space
-- param run
-- column run_id
-- column program
-- column module_number
-- column rank
-- column folder VARCHAR name neutral: Folder of its files; NULL for any.
-- column space_name VARCHAR name neutral: The memory space, such as hbm.
-- column refused_by VARCHAR name neutral: dump or log.
SELECT
  m.run_id, m.program, m.module_number, m.rank, m.folder,
  'hbm' AS space_name, 'dump' AS refused_by
FROM modules AS m
JOIN selected_run() AS c USING (run_id)
WHERE m.stage = 'oom_intermediate_module'
GROUP BY m.run_id, m.program, m.module_number, m.rank, m.folder
UNION ALL
SELECT DISTINCT
  o.run_id, coalesce(p.program, o.program_name), NULL, NULL, NULL,
  lower(o.space_name), 'log'
FROM selected_run() AS c
JOIN oom_reports AS o USING (run_id)
JOIN oom_programs() AS p
  ON p.run_id = o.run_id
  AND p.path = o.path
  AND p.ordinal = o.ordinal
  AND p.program_run_id = o.run_id
WHERE o.form = 'program_memory'
