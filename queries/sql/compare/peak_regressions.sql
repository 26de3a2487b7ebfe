-- title: Programs that need more memory
-- question: Which programs need more memory than in the run before, in which
--   memory space, and by how much?
-- definition: Verdicts of judged_modules, as hlodb report and hlodb diff give
--   them, with the same floors; what is the same but for the hosts that only
--   their folders tell is one row. A memory space that only one side has
--   counts as 0 bytes on the other.
-- grain: pair of modules, memory space
-- leading: program, space_name, verdict, base_reserved_bytes,
--   candidate_reserved_bytes, delta_reserved_bytes, delta_reserved_ratio, rule
-- param base
-- param candidate
-- param program VARCHAR = NULL of modules.program: Only pairs of which one is
--   called so; NULL for all.
-- param min_delta_bytes
-- param min_delta_ratio
-- param follow
-- column base
-- column candidate
-- column program
-- column base_program VARCHAR name neutral: Its name in the base, where it is
--   another.
-- column module_number INTEGER id neutral: XLA's number of the module in the
--   candidate, else in the base.
-- column rank
-- column module_count BIGINT count neutral: Pairs of equal modules that the
--   row stands for, as of hosts whose ranks are not known.
-- column color
-- column space_name
-- column verdict VARCHAR name neutral: worse, mixed, improved, same, new,
--   failed, recovered or not_comparable.
-- column rule VARCHAR name neutral: What decided the verdict.
-- column base_reserved_bytes BIGINT bytes lower_is_better: Reserved in the
--   base.
-- column candidate_reserved_bytes BIGINT bytes lower_is_better: In the
--   candidate.
-- column delta_reserved_bytes BIGINT bytes lower_is_better: The difference.
-- column delta_reserved_ratio DOUBLE ratio lower_is_better: Its share of the
--   base.
-- column base_live_peak_bytes BIGINT bytes lower_is_better: Live peak of the
--   base.
-- column candidate_live_peak_bytes BIGINT bytes lower_is_better: Of the
--   candidate.
-- column delta_live_peak_bytes BIGINT bytes lower_is_better: The difference.
-- column delta_live_peak_ratio DOUBLE ratio lower_is_better: Its share of the
--   base.
-- column noise_band_bytes BIGINT bytes neutral: How far duplicate compiles
--   differ; a difference within it is the same.
-- column method VARCHAR name neutral: Why both are the same program, see
--   match_rungs.
-- column confidence DOUBLE score higher_is_better: How sure that is.
-- column differing_keys VARCHAR name neutral: What makes both incomparable.
-- column tags VARCHAR name neutral: recovered, packing-only or schedule-only.
-- column hosts VARCHAR name neutral: Folders of the hosts that the row stands
--   for, where no rank but the folder alone tells them.
WITH judged AS MATERIALIZED (
  SELECT m.*
  FROM judged_modules(
    base := $base, candidate := $candidate, program := $program,
    min_delta_bytes := $min_delta_bytes, min_delta_ratio := $min_delta_ratio,
    follow := $follow
  ) AS m
  WHERE m.color IS NOT NULL
),
folders AS (
  SELECT h.*
  FROM hosts(run_ids := (
    SELECT
      list_distinct(coalesce(
        list(j.base_run_id) || list(j.candidate_run_id), []
      ))
    FROM judged AS j
  )) AS h
),
hosted AS (
  SELECT
    j.* EXCLUDE (
      path, base_folder, candidate_folder, base_place, candidate_place
    ),
    coalesce(c.host, b.host) AS host
  FROM judged AS j
  LEFT JOIN folders AS b
    ON b.run_id = j.base_run_id
    AND b.folder = j.base_folder
  LEFT JOIN folders AS c
    ON c.run_id = j.candidate_run_id
    AND c.folder = j.candidate_folder
),
alike AS (
  SELECT
    h.* EXCLUDE (host), count(*) AS module_count,
    string_agg(DISTINCT h.host, ', ' ORDER BY h.host) AS hosts
  FROM hosted AS h
  GROUP BY ALL
)
SELECT
  j.base, j.candidate, j.program, j.base_program, j.module_number, j.rank,
  j.module_count, j.color, j.space_name, j.verdict, j.rule,
  j.base_reserved_bytes, j.candidate_reserved_bytes, j.delta_reserved_bytes,
  j.delta_reserved_bytes / nullif(j.base_reserved_bytes, 0)
    AS delta_reserved_ratio,
  j.base_live_peak_bytes, j.candidate_live_peak_bytes,
  j.delta_live_peak_bytes,
  j.delta_live_peak_bytes / nullif(j.base_live_peak_bytes, 0)
    AS delta_live_peak_ratio,
  j.noise_band_bytes, j.method, j.confidence, j.differing_keys, j.tags, j.hosts
FROM alike AS j
ORDER BY
  CASE j.verdict
    WHEN 'worse' THEN 1 WHEN 'mixed' THEN 2 WHEN 'improved' THEN 3
    WHEN 'new' THEN 4 WHEN 'failed' THEN 5 WHEN 'not_comparable' THEN 6
    WHEN 'recovered' THEN 7 ELSE 8
  END,
  greatest(abs(j.delta_reserved_bytes), abs(j.delta_live_peak_bytes))
    DESC NULLS LAST,
  j.program, j.rank, j.module_number, j.color, j.base_module_id,
  j.candidate_module_id
