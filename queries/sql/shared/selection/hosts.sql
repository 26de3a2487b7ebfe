-- title: Hosts without ranks
-- question: Which folders of a run come from different processes, although no
--   name contains a rank?
-- definition: Folders with modules of one rank, or of none, in files of the
--   same names: no process writes a file name twice. The host is the folder;
--   for module/host_pid/ (xla_dump_hlo_to_subfolder) it is the last part.
-- grain: folder
-- param run
-- param run_ids BIGINT[] = NULL from 0: run_id of the runs to use instead of
--   run.
-- column run_id
-- column folder VARCHAR name neutral: The folder, with a slash.
-- column host VARCHAR name neutral: Host of the folder, with a slash.
WITH wanted AS (
  SELECT c.run_id
  FROM selected_run(run := $run) AS c
  WHERE $run_ids IS NULL
  UNION ALL
  SELECT unnest(list_distinct($run_ids))
),
files AS (
  SELECT DISTINCT
    m.run_id, m.rank, m.folder, substr(m.path, length(m.folder) + 1) AS file
  FROM wanted
  JOIN modules AS m USING (run_id)
),
alike AS (
  SELECT
    f.run_id, f.folder, count(*) OVER (
      PARTITION BY f.run_id, f.rank, f.file
    ) AS folder_count
  FROM files AS f
)
SELECT DISTINCT
  a.run_id, a.folder,
  coalesce(
    nullif(regexp_extract(a.folder, '/([^/]+_[0-9]+/)$', 1), ''), a.folder
  ) AS host
FROM alike AS a
WHERE a.folder_count > 1
