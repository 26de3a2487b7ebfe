-- title: Since when two modules differ
-- question: Since which run does the difference between two modules stand, and
--   what became of it?
-- definition: Programs are followed through run_ids by program_tracks. A
--   difference stands since the first run from which on, without a break up to
--   the candidate, the program lies on the candidate's side of the mean of
--   base and candidate. Runs in which it has other shapes are left out. If the
--   base itself has other shapes, the difference stands since the first run
--   with those of the candidate. A program that the candidate's run lacks is
--   missing since the run after the last one that has it. An improvement
--   undoes the last rise before it that reaches both limits and whose mean no
--   later run came back to, if the candidate needs no more than before that
--   rise.
-- grain: pair of modules, memory space
-- param base_runs BIGINT[] = NULL from 0: run_id of each base module; NULL
--   for the pairs of program_tracks with different contents: each module with
--   the one it is compared with, and each missing program.
-- param base_places BIGINT[] = NULL from 0: Their places in the run, see
--   compilations; NULL for no module.
-- param candidate_runs BIGINT[] = NULL from 0: run_id of each candidate
--   module.
-- param candidate_places BIGINT[] = NULL from 0: Their places; NULL for no
--   module.
-- param run_ids BIGINT[] = NULL from 0: run_id of the runs, the earliest
--   first; NULL for all runs of the latest run's series in their order.
-- param min_delta_bytes
-- param min_delta_ratio
-- column pair BIGINT id neutral: Position of the pair in the lists.
-- column base_run_id BIGINT id neutral: run_id of the base.
-- column base_place BIGINT id neutral: Place in it.
-- column run_id BIGINT id neutral: run_id of the candidate.
-- column place BIGINT id neutral: Place in it.
-- column program VARCHAR name neutral: Name of the program, in the candidate
--   if it is there; NULL without a track.
-- column rank
-- column module_number
-- column color
-- column track BIGINT id neutral: The candidate's track in program_tracks;
--   NULL if it has none.
-- column first_run_id BIGINT id neutral: run_id of the run since which the
--   difference stands.
-- column first_place BIGINT id neutral: Place of the program in that run; NULL
--   if it is missing there.
-- column before_run_id BIGINT id neutral: run_id of the last run before that
--   with the program, or else of the base.
-- column before_place BIGINT id neutral: Place of the program in that run.
-- column undone_run_id BIGINT id neutral: run_id of the run with the rise that
--   an improvement undoes; NULL if there is none.
-- column fate VARCHAR name neutral: undone: a later run needs no more than the
--   mean of both, or one more compilation is gone, or a missing program is
--   back; stands: the last run needs more, by both limits, or lacks the
--   program; NULL if unknown, or not a rise.
WITH points AS MATERIALIZED (
  SELECT
    t.track, t.run_id, t.place, t.run_place, t.module_id, t.next_run_id,
    t.relation, CAST(t.shape AS VARCHAR) AS shape,
    string_split(t.comparable_shapes, ', ') AS comparable_shapes,
    t.base_run_id, t.base_place, t.missing_run_id, t.program AS called,
    t.rank AS own_rank, t.module_number
  FROM program_tracks() AS t
),
asked AS MATERIALIZED (
  -- Arguments are read inside of macros, where no CTE may have their names.
  SELECT
    unnest(range(1, len($base_runs) + 1)) AS pair,
    unnest($base_runs) AS base_run_id, unnest($base_places) AS base_place,
    unnest($candidate_runs) AS own_run_id,
    unnest($candidate_places) AS own_place
  UNION ALL
  SELECT
    row_number() OVER (ORDER BY x.run_place, x.own_place, x.track),
    x.base_run_id, x.base_place, x.own_run_id, x.own_place
  FROM (
    SELECT
      c.run_place, c.track, b.run_id AS base_run_id, b.place AS base_place,
      c.run_id AS own_run_id, c.place AS own_place
    FROM points AS c
    JOIN points AS b
      ON b.run_id = c.base_run_id
      AND b.place = c.base_place
    -- Equal contents need equal memory.
    WHERE b.module_id <> c.module_id
    UNION ALL
    SELECT c.run_place + 1, c.track, c.run_id, c.place, c.missing_run_id, NULL
    FROM points AS c
    WHERE c.missing_run_id IS NOT NULL
  ) AS x
  WHERE $base_runs IS NULL
),
placed AS MATERIALIZED (
  SELECT
    a.*, b.track AS base_track, b.module_id AS base_id, b.shape AS base_shape,
    CASE WHEN c.track IS NULL THEN b.called ELSE c.called END AS called,
    CASE WHEN c.track IS NULL THEN b.own_rank ELSE c.own_rank END AS own_rank,
    CASE WHEN c.track IS NULL THEN b.module_number ELSE c.module_number END
      AS module_number,
    c.track, c.module_id AS own_id, c.run_place, c.comparable_shapes,
    coalesce(c.relation = 'again', FALSE) AS is_again
  FROM asked AS a
  LEFT JOIN points AS b
    ON b.run_id = a.base_run_id
    AND b.place = a.base_place
  LEFT JOIN points AS c
    ON c.run_id = a.own_run_id
    AND c.place = a.own_place
),
-- What program_tracks does not compare.
elsewhere AS MATERIALIZED (
  SELECT p.pair, p.base_run_id, p.base_place, p.own_run_id, p.own_place
  FROM placed AS p
  WHERE p.base_place IS NOT NULL
    AND (
      p.base_track IS NULL
      OR (p.own_place IS NOT NULL AND p.track <> p.base_track)
    )
),
compiled AS MATERIALIZED (
  SELECT c.*
  FROM compilations(run_ids := (
    SELECT
      coalesce(list_distinct(list(base_run_id) || list(own_run_id)), [])
    FROM elsewhere
  )) AS c
),
compared AS (
  SELECT e.pair, b.module_id, k.differing_keys = '' AS is_comparable
  FROM elsewhere AS e
  LEFT JOIN compiled AS b
    ON b.run_id = e.base_run_id
    AND b.place = e.base_place
  LEFT JOIN compiled AS c
    ON c.run_id = e.own_run_id
    AND c.place = e.own_place,
  LATERAL (
    SELECT d.differing_keys
    FROM differing_keys(
      base_key := b.program_key, base_shapes := b.entry_shapes,
      base_source := b.source_shapes, base_partitions := b.num_partitions,
      base_platform := b.platform, candidate_key := c.program_key,
      candidate_shapes := c.entry_shapes,
      candidate_source := c.source_shapes,
      candidate_partitions := c.num_partitions,
      candidate_platform := c.platform
    ) AS d
  ) AS k
),
ends AS (
  SELECT
    p.track, arg_max(p.run_id, p.run_place) AS last_run_id,
    arg_max(p.place, p.run_place) AS last_place,
    arg_max(p.shape, p.run_place) AS last_shape,
    -- NULL counts, too: the track reaches the last run.
    arg_max(struct_pack(n := p.next_run_id), p.run_place).n AS lacking_run_id
  FROM points AS p
  GROUP BY p.track
),
pairs AS MATERIALIZED (
  SELECT
    p.* EXCLUDE (base_id), coalesce(p.base_id, c.module_id) AS base_id,
    coalesce(
      c.is_comparable, list_contains(p.comparable_shapes, p.base_shape)
    ) AS is_comparable,
    e.lacking_run_id IS NULL AS is_there,
    list_contains(p.comparable_shapes, e.last_shape) AS is_there_alike
  FROM placed AS p
  LEFT JOIN compared AS c USING (pair)
  LEFT JOIN ends AS e ON e.track = p.track
),
sides AS MATERIALIZED (
  SELECT
    p.*, s.space_color, coalesce(b.reserved_bytes, 0) AS base_bytes,
    coalesce(c.reserved_bytes, 0) AS own_bytes
  FROM pairs AS p
  JOIN (
    SELECT x.pair, m.color AS space_color
    FROM pairs AS x
    JOIN memory_profile AS m ON m.module_id = x.base_id
    UNION
    SELECT x.pair, m.color
    FROM pairs AS x
    JOIN memory_profile AS m ON m.module_id = x.own_id
  ) AS s USING (pair)
  LEFT JOIN memory_profile AS b
    ON b.module_id = p.base_id
    AND b.color = s.space_color
  LEFT JOIN memory_profile AS c
    ON c.module_id = p.own_id
    AND c.color = s.space_color
),
levels AS (
  SELECT
    s.pair, s.space_color, s.is_comparable, s.run_place AS own_run_place,
    s.base_bytes, s.own_bytes, p.run_id, p.place, p.run_place,
    p.run_id = s.base_run_id AND p.place = s.base_place AS is_base,
    list_contains(s.comparable_shapes, p.shape) AS is_alike,
    coalesce(m.reserved_bytes, 0) AS level_bytes
  FROM sides AS s
  JOIN points AS p ON p.track = s.track
  LEFT JOIN memory_profile AS m
    ON m.module_id = p.module_id
    AND m.color = s.space_color
  WHERE s.base_id IS NOT NULL
),
broken AS MATERIALIZED (
  SELECT
    l.*,
    coalesce(max(l.run_place) FILTER (
      l.run_place <= l.own_run_place
      AND CASE
        WHEN NOT l.is_comparable THEN NOT l.is_alike
        ELSE l.is_alike
          AND (
            l.is_base
            OR (2 * l.level_bytes - l.base_bytes - l.own_bytes)
              * sign(l.own_bytes - l.base_bytes) <= 0
          )
      END
    ) OVER (PARTITION BY l.pair, l.space_color), 0) AS break_place
  FROM levels AS l
),
firsts AS (
  SELECT
    b.pair, b.space_color, arg_min(b.run_id, b.run_place) AS run_id,
    arg_min(b.place, b.run_place) AS place, min(b.run_place) AS run_place
  FROM broken AS b
  WHERE b.is_alike
    AND b.run_place > b.break_place
    AND b.run_place <= b.own_run_place
  GROUP BY b.pair, b.space_color
),
befores AS (
  SELECT
    b.pair, b.space_color, arg_max(b.run_id, b.run_place) AS run_id,
    arg_max(b.place, b.run_place) AS place
  FROM broken AS b
  LEFT JOIN firsts AS f USING (pair, space_color)
  WHERE b.run_place < coalesce(f.run_place, b.own_run_place)
    AND (b.is_alike OR NOT b.is_comparable)
  GROUP BY b.pair, b.space_color
),
rises AS (
  SELECT
    b.*, lag(b.level_bytes) OVER so_far AS earlier_bytes,
    min(b.level_bytes) OVER (
      PARTITION BY b.pair, b.space_color
      ORDER BY b.run_place
      ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING
    ) AS least_bytes
  FROM broken AS b
  WHERE b.is_alike
    AND b.run_place < b.own_run_place
    AND b.own_bytes < b.base_bytes
  WINDOW so_far AS (
    PARTITION BY b.pair, b.space_color ORDER BY b.run_place
  )
),
undone AS (
  SELECT
    r.pair, r.space_color, arg_max(r.run_id, r.run_place) AS run_id
  FROM rises AS r
  WHERE 2 * r.least_bytes > r.earlier_bytes + r.level_bytes
    AND r.level_bytes - r.earlier_bytes >= $min_delta_bytes
    AND r.level_bytes - r.earlier_bytes >= $min_delta_ratio * r.earlier_bytes
  GROUP BY r.pair, r.space_color, r.own_bytes
  HAVING arg_max(r.earlier_bytes, r.run_place) >= r.own_bytes
),
fallen AS (
  SELECT b.pair, b.space_color
  FROM broken AS b
  WHERE b.is_alike
    AND b.run_place > b.own_run_place
    AND 2 * b.level_bytes <= b.base_bytes + b.own_bytes
  GROUP BY b.pair, b.space_color
)
SELECT
  s.pair, s.base_run_id, s.base_place, s.own_run_id AS run_id,
  s.own_place AS place, s.called AS program, s.own_rank AS rank,
  s.module_number, s.space_color AS color, s.track,
  coalesce(f.run_id, e.lacking_run_id, s.own_run_id) AS first_run_id,
  CASE WHEN f.run_id IS NULL THEN s.own_place ELSE f.place END AS first_place,
  coalesce(b.run_id, e.last_run_id, s.base_run_id) AS before_run_id,
  coalesce(b.place, e.last_place, s.base_place) AS before_place,
  u.run_id AS undone_run_id,
  CASE
    WHEN s.own_place IS NULL AND e.track IS NOT NULL THEN 'stands'
    WHEN s.own_place IS NULL AND g.track IS NOT NULL THEN 'undone'
    WHEN s.base_id IS NULL OR s.track IS NULL OR s.own_bytes <= s.base_bytes
      THEN NULL
    WHEN s.is_again AND NOT s.is_there OR d.pair IS NOT NULL THEN 'undone'
    WHEN s.is_there AND s.is_there_alike
      AND s.own_bytes - s.base_bytes >= $min_delta_bytes
      AND s.own_bytes - s.base_bytes >= $min_delta_ratio * s.base_bytes
      THEN 'stands'
  END AS fate
FROM sides AS s
LEFT JOIN firsts AS f
  ON f.pair = s.pair
  AND f.space_color = s.space_color
LEFT JOIN befores AS b
  ON b.pair = s.pair
  AND b.space_color = s.space_color
LEFT JOIN undone AS u
  ON u.pair = s.pair
  AND u.space_color = s.space_color
LEFT JOIN fallen AS d
  ON d.pair = s.pair
  AND d.space_color = s.space_color
-- Where the last run has the base's program, another became of it.
LEFT JOIN points AS g
  ON s.own_place IS NULL
  AND g.run_id = s.base_run_id
  AND g.place = s.base_place
LEFT JOIN ends AS e
  ON e.track = g.track
  AND e.lacking_run_id IS NOT NULL
ORDER BY s.pair, s.space_color
