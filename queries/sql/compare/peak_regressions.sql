-- title: Programs that need more memory
-- question: Which programs need more memory than in the base, in which memory
--   space, and by how much?
-- definition: Verdicts of judged_modules, as in hlodb report and hlodb diff,
--   with the same floors. Equal modules of hosts whose ranks are unknown are
--   one row. A memory space that only one side uses counts as 0 bytes on the
--   other.
-- grain: pair of modules, memory space
-- leading: program, space_name, verdict, delta_reserved_bytes,
--   delta_reserved_ratio, base_reserved_bytes, candidate_reserved_bytes, rule
-- param base
-- param candidate
-- param program VARCHAR = NULL of modules.program: Only pairs with this
--   program on at least one side; NULL for all.
-- param min_delta_bytes
-- param min_delta_ratio
-- param managed_ratio
-- param limit_devices
-- param limit_spaces
-- param limit_bytes
-- param follow
-- column base
-- column candidate
-- column program
-- column base_program VARCHAR name neutral: Name of the program in the base,
--   if different.
-- column module_number INTEGER id neutral: XLA's number of the module in the
--   candidate, else in the base.
-- column rank
-- column module_count BIGINT count neutral: Pairs of equal modules in this
--   row, such as those of hosts with unknown ranks.
-- column color
-- column space_name
-- column verdict VARCHAR name neutral: worse, mixed, improved, same, changed,
--   new, failed, recovered or not_comparable.
-- column rule VARCHAR name neutral: Rule that decided the verdict, see
--   judged_pairs.
-- column base_reserved_bytes BIGINT bytes lower_is_better: Reserved bytes in
--   the base.
-- column candidate_reserved_bytes BIGINT bytes lower_is_better: Reserved bytes
--   in the candidate.
-- column delta_reserved_bytes BIGINT bytes lower_is_better: Candidate minus
--   base.
-- column delta_reserved_ratio DOUBLE ratio lower_is_better: Difference as a
--   share of the base.
-- column base_live_peak_bytes BIGINT bytes lower_is_better: Live peak of the
--   base.
-- column candidate_live_peak_bytes BIGINT bytes lower_is_better: Live peak of
--   the candidate.
-- column delta_live_peak_bytes BIGINT bytes lower_is_better: Candidate minus
--   base.
-- column delta_live_peak_ratio DOUBLE ratio lower_is_better: Difference as a
--   share of the base.
-- column noise_band_bytes BIGINT bytes neutral: Largest difference between
--   duplicate compilations; a difference up to it counts as same.
-- column method VARCHAR name neutral: How the two were matched, see
--   match_rungs.
-- column confidence DOUBLE score higher_is_better: Confidence of the match,
--   from 0 to 1.
-- column differing_keys VARCHAR name neutral: Differences of the inputs that
--   make the two incomparable.
-- column tags VARCHAR name neutral: recovered, packing-only or schedule-only.
-- column hosts VARCHAR name neutral: Folders of the hosts in this row, if only
--   the folder distinguishes them.
WITH judged AS MATERIALIZED (
  SELECT m.*
  FROM judged_modules(
    base := $base, candidate := $candidate, program := $program,
    min_delta_bytes := $min_delta_bytes, min_delta_ratio := $min_delta_ratio,
    managed_ratio := $managed_ratio, limit_devices := $limit_devices,
    limit_spaces := $limit_spaces, limit_bytes := $limit_bytes,
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
    WHEN 'worse' THEN 1 WHEN 'mixed' THEN 2 WHEN 'changed' THEN 3
    WHEN 'improved' THEN 4 WHEN 'new' THEN 5 WHEN 'failed' THEN 6
    WHEN 'not_comparable' THEN 7 WHEN 'recovered' THEN 8 ELSE 9
  END,
  greatest(abs(j.delta_reserved_bytes), abs(j.delta_live_peak_bytes))
    DESC NULLS LAST,
  j.program, j.rank, j.module_number, j.color, j.base_module_id,
  j.candidate_module_id
