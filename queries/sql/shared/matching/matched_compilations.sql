-- title: Compilations of two runs, side by side
-- question: Which compilation of the candidate is compared with which one of
--   the base, even if a program was renamed, renumbered or missing?
-- definition: Rows of module_ladder for the two runs, with substitutes if the
--   base has no suitable compilation. relation: matched; again (one more
--   compilation of a program of the base, compared with the first one there);
--   series (the base has it with other shapes; the last earlier run with
--   comparable ones is used); recovered (the base lacks it or its buffer
--   assignment; the last earlier run with it is used); new; missing (the
--   candidate lacks it); fewer (it is only compiled fewer times, or a new
--   program of its name and rank may be its successor). Earlier runs are those
--   of earlier_ids, or else the latest 90 that base_choice follows; each is
--   matched by the same rules. With window_ids, a program is compared with the
--   run of the window in which it reserved least, with one row per memory
--   space.
-- grain: pair of compilations, with window_ids memory space too
-- param base
-- param candidate
-- param program VARCHAR = NULL of modules.program: Only pairs with this
--   program on at least one side; NULL for all.
-- param base_program VARCHAR = NULL of modules.program: Only this program of
--   the base; together with program, the pair of these two, whatever their
--   names.
-- param follow
-- param earlier_ids
-- param window_ids
-- column pair_id BIGINT id neutral: Number of the pair.
-- column relation VARCHAR name neutral: matched, again, series, recovered,
--   new, missing or fewer.
-- column method VARCHAR name neutral: What is equal, see match_rungs.
-- column confidence DOUBLE score higher_is_better: Confidence of the match,
--   from 0 to 1.
-- column differing_keys VARCHAR name neutral: Differences of inputs or device
--   that make the two incomparable; empty if they are comparable.
-- column color INTEGER id neutral: Memory space of the row; NULL for all.
-- column base VARCHAR name neutral: Run of the base module.
-- column instead_of VARCHAR name neutral: The base that this run replaces.
-- column candidate
-- column rank
-- column base_rank INTEGER id neutral: Rank in the base; NULL where its files
--   name none.
-- column candidate_rank INTEGER id neutral: The same in the candidate.
-- column base_run_id BIGINT id neutral: run_id of the base.
-- column candidate_run_id BIGINT id neutral: run_id of the candidate.
-- column base_place BIGINT id neutral: Place in its run, see compilations.
-- column candidate_place BIGINT id neutral: The same in the candidate.
-- column base_program VARCHAR name neutral: Name of the program in the base.
-- column candidate_program VARCHAR name neutral: Its name in the candidate.
-- column base_module_number INTEGER id neutral: XLA's number of the module in
--   the base.
-- column candidate_module_number INTEGER id neutral: The same in the
--   candidate.
-- column base_module_id BIGINT id neutral: Last snapshot in the base.
-- column candidate_module_id BIGINT id neutral: The same in the candidate.
-- column base_locations_id BIGINT id neutral: Source locations in the base.
-- column candidate_locations_id BIGINT id neutral: The same in the candidate.
-- column base_path VARCHAR name neutral: File of the snapshot in the base.
-- column candidate_path VARCHAR name neutral: The same in the candidate.
-- column base_folder VARCHAR name neutral: Folder of the snapshot in the base.
-- column candidate_folder VARCHAR name neutral: The same in the candidate.
-- column base_has_assignment BOOLEAN flag neutral: Whether the base has its
--   buffer assignment.
-- column candidate_has_assignment BOOLEAN flag neutral: Whether the candidate
--   has.
-- column base_exact BIGINT id neutral: exact_fingerprint in the base.
-- column candidate_exact BIGINT id neutral: The same in the candidate.
-- column base_graph BIGINT id neutral: graph_fingerprint in the base.
-- column candidate_graph BIGINT id neutral: The same in the candidate.
-- column base_source BIGINT id neutral: exact_fingerprint of its source.
-- column candidate_source BIGINT id neutral: The same in the candidate.
-- column platform
WITH paired_runs AS MATERIALIZED (
  -- Arguments are read inside of macros, where no CTE may have this name.
  SELECT
    p.*, s.may_be_same OR NOT $follow AS is_same_device
  FROM selected_pair(base := $base, candidate := $candidate) AS p
  JOIN runs AS b ON b.run_id = p.base_run_id
  JOIN runs AS c ON c.run_id = p.candidate_run_id,
  LATERAL (
    SELECT d.may_be_same FROM same_device(one := b.device, other := c.device)
      AS d
  ) AS s
),
own_runs AS MATERIALIZED (
  SELECT p.base_run_id AS run_id, 1 AS ordinal FROM paired_runs AS p
  UNION ALL
  SELECT u.run_id, u.ordinal + 1
  FROM (
    SELECT
      unnest($window_ids) AS run_id,
      unnest(range(1, len($window_ids) + 1)) AS ordinal
  ) AS u
  WHERE u.run_id NOT IN (SELECT p.base_run_id FROM paired_runs AS p)
),
ladder AS MATERIALIZED (
  SELECT m.*
  FROM module_ladder(
    base_ids := (
      SELECT list(o.run_id ORDER BY o.ordinal) FROM own_runs AS o
    ),
    candidate_ids := (
      SELECT list(p.candidate_run_id)
      FROM own_runs AS o
      CROSS JOIN paired_runs AS p
    ),
    base_program := $base_program,
    candidate_program := CASE
      WHEN $base_program IS NOT NULL THEN coalesce($program, $base_program)
    END
  ) AS m
),
direct AS MATERIALIZED (
  SELECT
    m.* REPLACE (
      CASE
        WHEN p.is_same_device THEN m.differing_keys
        WHEN m.differing_keys IS NOT NULL
          THEN concat_ws(', ', nullif(m.differing_keys, ''), 'device')
      END AS differing_keys
    ),
    p.is_same_device
  FROM ladder AS m
  CROSS JOIN paired_runs AS p
  WHERE m.pair = 1
),
-- The first compilation in the base of what its programs have in common.
firsts AS (
  SELECT
    d.rank, d.base_program AS called, d.base_key,
    arg_min(d, d.base_place) AS base
  FROM direct AS d
  WHERE d.base_has_assignment
  GROUP BY d.rank, d.base_program, d.base_key
),
again AS (
  SELECT d.candidate_place, f.base
  FROM direct AS d
  JOIN firsts AS f
    ON f.rank IS NOT DISTINCT FROM d.rank
    AND f.base_key IS NOT DISTINCT FROM d.candidate_key
    AND f.called = d.candidate_program
  WHERE d.base_place IS NULL
    AND d.candidate_has_assignment
),
in_window AS (
  SELECT m.*
  FROM ladder AS m
  WHERE m.method IS NOT NULL
    AND m.base_has_assignment
    AND m.candidate_has_assignment
    AND m.differing_keys = ''
    AND len($window_ids) > 1
),
-- What has no comparable partner.
open AS MATERIALIZED (
  SELECT d.candidate_place
  FROM direct AS d
  ANTI JOIN again AS a ON a.candidate_place = d.candidate_place
  ANTI JOIN in_window AS w ON w.candidate_place = d.candidate_place
  WHERE d.candidate_has_assignment
    AND $follow
    AND (
      d.base_place IS NULL
      OR NOT d.base_has_assignment
      OR (d.differing_keys <> '' AND d.is_same_device)
    )
),
earlier AS MATERIALIZED (
  SELECT
    unnest($earlier_ids) AS run_id,
    unnest(range(1, len($earlier_ids) + 1)) AS ordinal
  UNION ALL
  SELECT c.run_id, c.place
  FROM base_choice(candidate := (
    -- No run has no name: then nothing is looked for.
    SELECT CASE WHEN count(o.candidate_place) > 0 THEN max(p.candidate) ELSE ''
      END
    FROM paired_runs AS p
    LEFT JOIN open AS o ON TRUE
  )) AS c
  WHERE c.is_followed
    AND $earlier_ids IS NULL
  ORDER BY ordinal
  LIMIT 90
),
asked_earlier AS MATERIALIZED (
  SELECT e.run_id, e.ordinal
  FROM earlier AS e
  WHERE EXISTS (SELECT 1 FROM open)
),
seen AS (
  SELECT
    m.*,
    row_number() OVER (
      PARTITION BY m.candidate_place
      ORDER BY m.differing_keys = '' DESC, e.ordinal
    ) AS nth
  FROM module_ladder(
    base_ids := (
      SELECT list(e.run_id ORDER BY e.ordinal) FROM asked_earlier AS e
    ),
    candidate_ids := (
      SELECT list(p.candidate_run_id)
      FROM asked_earlier AS e
      CROSS JOIN paired_runs AS p
    ),
    base_program := NULL, assigned_only := TRUE
  ) AS m
  JOIN asked_earlier AS e ON e.run_id = m.base_run_id
  JOIN open AS o ON o.candidate_place = m.candidate_place
  WHERE m.method IS NOT NULL
),
stand_ins AS MATERIALIZED (
  SELECT s.* EXCLUDE (nth) REPLACE ('series' AS method, 0.9 AS confidence)
  FROM seen AS s
  WHERE s.nth = 1
),
-- What is compiled less often is not missing. Nor are as many programs of a
-- name as there are new ones: these may be what became of them.
kinds AS (
  SELECT
    d.rank, d.candidate_program AS called, d.candidate_key AS kind_key,
    bool_or(d.method IS NOT NULL) AS is_kept
  FROM direct AS d
  WHERE d.candidate_place IS NOT NULL
  GROUP BY d.rank, d.candidate_program, d.candidate_key
),
lost_kinds AS (
  SELECT
    d.rank, d.base_program AS called, d.base_key AS kind_key,
    row_number() OVER (
      PARTITION BY d.rank, d.base_program ORDER BY min(d.base_place)
    ) AS ordinal
  FROM direct AS d
  ANTI JOIN kinds AS k
    ON k.rank IS NOT DISTINCT FROM d.rank
    AND k.called = d.base_program
    AND k.kind_key IS NOT DISTINCT FROM d.base_key
  WHERE d.candidate_place IS NULL
    AND d.base_has_assignment
  GROUP BY d.rank, d.base_program, d.base_key
),
became AS (
  SELECT k.rank, k.called, count(*) AS times
  FROM kinds AS k
  WHERE NOT k.is_kept
  GROUP BY k.rank, k.called
),
missing AS (
  SELECT l.rank, l.called, l.kind_key
  FROM lost_kinds AS l
  LEFT JOIN became AS b
    ON b.rank IS NOT DISTINCT FROM l.rank
    AND b.called = l.called
  WHERE l.ordinal > coalesce(b.times, 0)
),
-- The run of the window in which a program reserved least in a memory space;
-- of several the earliest.
sizes AS (
  SELECT
    w.candidate_place, w.pair, c.space_color,
    coalesce(b.reserved_bytes, 0) AS base_bytes
  FROM in_window AS w
  JOIN (
    SELECT DISTINCT i.candidate_place, p.color AS space_color
    FROM in_window AS i
    JOIN memory_profile AS p
      ON p.module_id IN (i.base_module_id, i.candidate_module_id)
  ) AS c USING (candidate_place)
  LEFT JOIN memory_profile AS b
    ON b.module_id = w.base_module_id
    AND b.color = c.space_color
),
best AS (
  SELECT
    s.candidate_place, s.space_color,
    arg_min(s.pair, (s.base_bytes, -s.pair)) AS pair
  FROM sizes AS s
  GROUP BY s.candidate_place, s.space_color
),
related AS (
  SELECT
    CASE
      WHEN s.candidate_place IS NULL AND d.candidate_place IS NULL
        THEN CASE WHEN l.called IS NULL THEN 'fewer' ELSE 'missing' END
      WHEN s.candidate_place IS NULL AND d.base_place IS NULL THEN 'new'
      WHEN s.candidate_place IS NULL THEN 'matched'
      WHEN d.base_place IS NULL OR NOT d.base_has_assignment THEN 'recovered'
      ELSE 'series'
    END AS relation,
    CASE WHEN s.candidate_place IS NULL THEN d ELSE s END AS m,
    CAST(NULL AS INTEGER) AS space_color
  FROM (SELECT x.* EXCLUDE (is_same_device) FROM direct AS x) AS d
  LEFT JOIN stand_ins AS s
    ON s.candidate_place = d.candidate_place
    -- Of other shapes, too, it is no better than the base.
    AND (
      d.base_place IS NULL
      OR NOT d.base_has_assignment
      OR s.differing_keys = ''
    )
  LEFT JOIN missing AS l
    ON d.candidate_place IS NULL
    AND l.rank IS NOT DISTINCT FROM d.rank
    AND l.called = d.base_program
    AND l.kind_key IS NOT DISTINCT FROM d.base_key
    AND d.base_has_assignment
  ANTI JOIN again AS a ON a.candidate_place = d.candidate_place
  ANTI JOIN best AS w ON w.candidate_place = d.candidate_place
  UNION ALL
  SELECT 'matched', m, b.space_color
  FROM best AS b
  JOIN ladder AS m
    ON m.pair = b.pair
    AND m.candidate_place = b.candidate_place
),
whole AS (
  SELECT r.relation, r.space_color, unnest(r.m)
  FROM related AS r
  UNION ALL
  SELECT
    'again', NULL,
    d.* EXCLUDE (is_same_device) REPLACE (
      'compiled again' AS method, 0.9 AS confidence,
      CASE WHEN d.is_same_device THEN '' ELSE 'device' END AS differing_keys,
      a.base.base_run_id AS base_run_id, a.base.base_place AS base_place,
      a.base.base_program AS base_program, a.base.base_key AS base_key,
      a.base.base_module_number AS base_module_number,
      a.base.base_rank AS base_rank, a.base.base_platform AS base_platform,
      a.base.base_module_id AS base_module_id,
      a.base.base_locations_id AS base_locations_id,
      a.base.base_path AS base_path, a.base.base_folder AS base_folder,
      a.base.base_has_assignment AS base_has_assignment,
      a.base.base_exact AS base_exact, a.base.base_graph AS base_graph,
      a.base.base_source AS base_source
    )
  FROM direct AS d
  JOIN again AS a ON a.candidate_place = d.candidate_place
)
SELECT
  row_number() OVER (
    ORDER BY
      w.candidate_place NULLS LAST, w.base_place, w.space_color
  ) AS pair_id,
  w.relation, w.method, w.confidence, w.differing_keys,
  w.space_color AS color, b.name AS base,
  CASE WHEN w.relation = 'series' THEN p.base END AS instead_of,
  p.candidate, w.rank, w.base_rank, w.candidate_rank, w.base_run_id,
  w.candidate_run_id, w.base_place, w.candidate_place, w.base_program,
  w.candidate_program, w.base_module_number, w.candidate_module_number,
  w.base_module_id, w.candidate_module_id, w.base_locations_id,
  w.candidate_locations_id, w.base_path, w.candidate_path, w.base_folder,
  w.candidate_folder, w.base_has_assignment, w.candidate_has_assignment,
  w.base_exact, w.candidate_exact, w.base_graph, w.candidate_graph,
  w.base_source, w.candidate_source,
  coalesce(w.candidate_platform, w.base_platform) AS platform
FROM whole AS w
CROSS JOIN paired_runs AS p
LEFT JOIN runs AS b ON b.run_id = w.base_run_id
WHERE $program IS NULL
  OR $program IN (w.base_program, w.candidate_program)
