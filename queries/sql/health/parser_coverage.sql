-- title: Unparsed lines
-- question: How many lines of the input did the parsers not match?
-- definition: Files by run, kind and status: lines read and lines that no
--   parser rule matched; covered_ratio is the matched share. Files without
--   lines (binary ones, and those that were not read) count in file_count
--   only.
-- grain: run, kind, status
-- leading: run, file_kind, status, file_count, file_bytes, line_count,
--   unclaimed_count, covered_ratio
-- param run VARCHAR = NULL of runs.name: Only this run; NULL for all.
-- column run
-- column file_kind VARCHAR name neutral: Kind of file.
-- column status VARCHAR name neutral: loaded, duplicate, ignored or rejected.
-- column file_count BIGINT count neutral: Number of files.
-- column file_bytes BIGINT bytes neutral: Their sizes.
-- column line_count BIGINT count neutral: Number of lines.
-- column unclaimed_count BIGINT count lower_is_better: Lines that no rule
--   matched.
-- column covered_ratio DOUBLE ratio higher_is_better: Share of lines that a
--   rule matched.
-- column worst_path VARCHAR name neutral: File with the most unclaimed lines.
SELECT
  r.name AS run, f.kind AS file_kind, f.status, count(*) AS file_count,
  CAST(sum(f.size_bytes) AS BIGINT) AS file_bytes,
  CAST(coalesce(sum(f.lines_total), 0) AS BIGINT) AS line_count,
  CAST(coalesce(sum(f.lines_unclaimed), 0) AS BIGINT) AS unclaimed_count,
  1 - coalesce(sum(f.lines_unclaimed), 0) / nullif(sum(f.lines_total), 0)
    AS covered_ratio,
  arg_max(f.path, (f.lines_unclaimed, f.path))
    FILTER (WHERE f.lines_unclaimed > 0) AS worst_path
FROM dump_files AS f
JOIN runs AS r USING (run_id)
WHERE $run IS NULL
  OR r.name = $run
GROUP BY r.run_id, r.name, f.kind, f.status
ORDER BY unclaimed_count DESC, r.run_id, f.kind, f.status
