-- title: Programs followed through a series
-- question: Which module of each run is which program, even after a rename or
--   a missing run?
-- definition: Modules with a buffer assignment, matched from each run to the
--   next by module_ladder. A module that disappears and one that appears in a
--   later run are matched on the same ladder; the latest such run counts. Each
--   row but the first of a track says which module it continues, how it was
--   matched, and with what confidence. A module is compared with the last
--   comparable one of its track. If a module begins a track, and the previous
--   run has a program with its name, shapes and rank, it is one more
--   compilation of that program, compared with the first one there. A program
--   is missing, unless it is only compiled fewer times, or as many programs of
--   its name are new.
-- grain: compiled module
-- leading: track, run, program, rank, method, confidence
-- param run_ids BIGINT[] = NULL from 0: run_id of the runs, the earliest
--   first; NULL for all runs of the latest run's series in their order.
-- column track BIGINT id neutral: Number of the track: one program through the
--   series.
-- column run_id
-- column run
-- column run_place BIGINT id neutral: Position of the run, 1 for the earliest.
-- column place BIGINT id neutral: Position of the module in its run, see
--   compilations.
-- column program
-- column rank
-- column module_number
-- column module_id
-- column shape BIGINT id neutral: Number of its shapes in the track: 1 for the
--   earliest.
-- column comparable_shapes VARCHAR name neutral: Shapes of the track that can
--   be compared with its own, see differing_keys; separated by commas.
-- column method VARCHAR name neutral: How it was matched with the earlier
--   module, see match_rungs; NULL for the first row.
-- column confidence DOUBLE score higher_is_better: Confidence of the match,
--   from 0 to 1.
-- column earlier_run_id BIGINT id neutral: run_id of the previous module of
--   the track.
-- column earlier_place BIGINT id neutral: Position of that module in its run.
-- column base_run_id BIGINT id neutral: run_id of the module that it is
--   compared with.
-- column base_place BIGINT id neutral: Position of that module in its run.
-- column relation VARCHAR name neutral: series, or again for one more
--   compilation; NULL without a module to compare with.
-- column base_method VARCHAR name neutral: How the two were matched, see
--   match_rungs.
-- column base_confidence DOUBLE score higher_is_better: Confidence of the
--   match, from 0 to 1.
-- column next_run_id BIGINT id neutral: run_id of the run after its own; NULL
--   in the last run.
-- column missing_run_id BIGINT id neutral: run_id of the first run without the
--   program, if the last run lacks it, too.
WITH RECURSIVE line AS MATERIALIZED (
  -- Arguments are read inside of macros, where no CTE may have their names.
  SELECT
    unnest($run_ids) AS run_id,
    unnest(range(1, len($run_ids) + 1)) AS run_place
  UNION ALL
  SELECT o.run_id, row_number() OVER (ORDER BY o.place DESC)
  FROM run_order() AS o
  JOIN run_order() AS latest
    ON latest.place = 1
    AND latest.series IS NOT DISTINCT FROM o.series
  WHERE $run_ids IS NULL
),
held AS MATERIALIZED (
  SELECT c.*, l.run_place
  FROM compilations(
    run_ids := (SELECT coalesce(list(y.run_id), []) FROM line AS y),
    words_of := (SELECT arg_max(y.run_id, y.run_place) FROM line AS y)
  ) AS c
  JOIN line AS l USING (run_id)
  WHERE c.has_assignment
),
direct AS MATERIALIZED (
  SELECT
    m.base_run_id, m.base_place, m.candidate_run_id, m.candidate_place,
    m.method, m.confidence
  FROM module_ladder(
    base_ids := (
      SELECT list(y.run_id ORDER BY y.run_place)
      FROM line AS y
      WHERE y.run_place < (SELECT max(z.run_place) FROM line AS z)
    ),
    candidate_ids := (
      SELECT list(y.run_id ORDER BY y.run_place)
      FROM line AS y
      WHERE y.run_place > 1
    ),
    assigned_only := TRUE
  ) AS m
  WHERE m.method IS NOT NULL
),
ended AS MATERIALIZED (
  SELECT h.*
  FROM held AS h
  ANTI JOIN direct AS d
    ON d.base_run_id = h.run_id
    AND d.base_place = h.place
),
begun AS MATERIALIZED (
  SELECT h.*
  FROM held AS h
  ANTI JOIN direct AS d
    ON d.candidate_run_id = h.run_id
    AND d.candidate_place = h.place
  WHERE h.run_place > 2
),
-- Runs between which a program may have been missing: they share some key.
gaps AS MATERIALIZED (
  SELECT DISTINCT e.run_place AS base_place, b.run_place AS own_place,
    e.run_id AS base_id, b.run_id AS own_id
  FROM (
    SELECT
      x.run_id, x.run_place,
      unnest([
        hash('name', x.program), hash('exact', x.exact_fingerprint),
        hash('graph', x.graph_fingerprint), hash('source', x.source_graph),
        hash('shapes', x.entry_shapes), hash('before', x.source_shapes)
      ]) AS key,
      unnest([
        TRUE, x.exact_fingerprint IS NOT NULL, x.graph_fingerprint IS NOT NULL,
        x.source_graph IS NOT NULL, x.entry_shapes IS NOT NULL,
        x.source_shapes IS NOT NULL
      ]) AS is_known
    FROM ended AS x
  ) AS e
  JOIN (
    SELECT
      x.run_id, x.run_place,
      unnest([
        hash('name', x.program), hash('exact', x.exact_fingerprint),
        hash('graph', x.graph_fingerprint), hash('source', x.source_graph),
        hash('shapes', x.entry_shapes), hash('before', x.source_shapes)
      ]) AS key
    FROM begun AS x
  ) AS b
    ON b.key = e.key
    AND b.run_place > e.run_place + 1
  WHERE e.is_known
),
across AS (
  SELECT
    m.base_run_id, m.base_place, m.candidate_run_id, m.candidate_place,
    m.method, m.confidence, g.base_place AS base_order, g.own_place
  FROM module_ladder(
    base_ids := (
      SELECT list(y.base_id ORDER BY y.base_place, y.own_place) FROM gaps AS y
    ),
    candidate_ids := (
      SELECT list(y.own_id ORDER BY y.base_place, y.own_place) FROM gaps AS y
    ),
    assigned_only := TRUE
  ) AS m
  JOIN gaps AS g
    ON g.base_id = m.base_run_id
    AND g.own_id = m.candidate_run_id
  SEMI JOIN ended AS e
    ON e.run_id = m.base_run_id
    AND e.place = m.base_place
  SEMI JOIN begun AS b
    ON b.run_id = m.candidate_run_id
    AND b.place = m.candidate_place
  WHERE m.method IS NOT NULL
  QUALIFY row_number() OVER (
    PARTITION BY m.candidate_run_id, m.candidate_place
    ORDER BY g.base_place DESC
  ) = 1
),
links AS MATERIALIZED (
  SELECT * FROM direct
  UNION ALL
  SELECT * EXCLUDE (base_order, own_place)
  FROM across
  QUALIFY row_number() OVER (
    PARTITION BY base_run_id, base_place ORDER BY own_place
  ) = 1
),
followed AS (
  SELECT
    row_number() OVER (ORDER BY h.run_place, h.place) AS track, h.run_id,
    h.place, CAST(NULL AS VARCHAR) AS method,
    CAST(NULL AS DOUBLE) AS confidence,
    CAST(NULL AS BIGINT) AS earlier_run_id,
    CAST(NULL AS BIGINT) AS earlier_place
  FROM held AS h
  ANTI JOIN links AS l
    ON l.candidate_run_id = h.run_id
    AND l.candidate_place = h.place
  UNION ALL
  SELECT
    f.track, l.candidate_run_id, l.candidate_place, l.method, l.confidence,
    l.base_run_id, l.base_place
  FROM followed AS f
  JOIN links AS l
    ON l.base_run_id = f.run_id
    AND l.base_place = f.place
),
sightings AS MATERIALIZED (
  SELECT
    f.*, h.* EXCLUDE (run_id, place),
    hash(
      h.program_key, h.entry_shapes, h.source_shapes, h.num_partitions,
      h.platform
    ) AS shape
  FROM followed AS f
  JOIN held AS h
    ON h.run_id = f.run_id
    AND h.place = f.place
),
lasts AS MATERIALIZED (
  SELECT s.track, max(s.run_place) AS run_place
  FROM sightings AS s
  GROUP BY s.track
),
shapes AS MATERIALIZED (
  SELECT
    s.track, s.shape, s.program_key, s.entry_shapes, s.source_shapes,
    s.num_partitions, s.platform,
    row_number() OVER (PARTITION BY s.track ORDER BY min(s.run_place))
      AS shape_number
  FROM sightings AS s
  GROUP BY
    s.track, s.shape, s.program_key, s.entry_shapes, s.source_shapes,
    s.num_partitions, s.platform
),
comparable AS MATERIALIZED (
  SELECT
    b.track, b.shape AS base_shape, c.shape AS own_shape,
    b.shape_number AS base_number, c.shape_number AS own_number
  FROM shapes AS b
  JOIN shapes AS c USING (track),
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
  WHERE k.differing_keys = ''
    OR b.shape = c.shape
),
numbered AS (
  SELECT
    c.track, c.own_shape AS shape, c.own_number AS shape_number,
    string_agg(c.base_number, ', ' ORDER BY c.base_number)
      AS comparable_shapes
  FROM comparable AS c
  GROUP BY c.track, c.own_shape, c.own_number
),
-- The last sighting of a comparable shape.
levels AS (
  SELECT s.track, s.run_place, s.base_run_place
  FROM (
    SELECT
      b.track, b.run_place, b.shape, c.own_shape,
      lag(b.run_place) OVER (
        PARTITION BY b.track, c.own_shape ORDER BY b.run_place
      ) AS base_run_place
    FROM sightings AS b
    JOIN comparable AS c
      ON c.track = b.track
      AND c.base_shape = b.shape
  ) AS s
  WHERE s.own_shape = s.shape
    AND s.base_run_place IS NOT NULL
),
-- Programs of a run, by what their compilations share.
kinds AS MATERIALIZED (
  SELECT
    s.run_place, s.program AS called, s.rank AS host_rank, s.program_key,
    arg_min(s.run_id, s.place) AS run_id, min(s.place) AS place,
    bool_or(s.earlier_run_id IS NOT NULL) AS is_kept
  FROM sightings AS s
  GROUP BY s.run_place, s.program, s.rank, s.program_key
),
bases AS (
  SELECT
    l.track, l.run_place, b.run_id, b.place, 'series' AS relation,
    s.method, s.confidence
  FROM levels AS l
  JOIN sightings AS s
    ON s.track = l.track
    AND s.run_place = l.run_place
  JOIN sightings AS b
    ON b.track = l.track
    AND b.run_place = l.base_run_place
  UNION ALL
  SELECT
    s.track, s.run_place, k.run_id, k.place, 'again', 'compiled again', 0.9
  FROM sightings AS s
  JOIN kinds AS k
    ON k.run_place = s.run_place - 1
    AND k.called = s.program
    AND k.host_rank IS NOT DISTINCT FROM s.rank
    AND k.program_key IS NOT DISTINCT FROM s.program_key
  WHERE s.earlier_run_id IS NULL
),
became AS (
  SELECT k.run_place, k.called, k.host_rank, count(*) AS times
  FROM kinds AS k
  WHERE NOT k.is_kept
  GROUP BY k.run_place, k.called, k.host_rank
),
lost_kinds AS (
  SELECT
    e.run_place, e.program AS called, e.rank AS host_rank, e.program_key,
    row_number() OVER (
      PARTITION BY e.run_place, e.program, e.rank ORDER BY min(e.track)
    ) AS ordinal
  FROM sightings AS e
  JOIN lasts AS t
    ON t.track = e.track
    AND t.run_place = e.run_place
  ANTI JOIN kinds AS k
    ON k.run_place = e.run_place + 1
    AND k.called = e.program
    AND k.host_rank IS NOT DISTINCT FROM e.rank
    AND k.program_key IS NOT DISTINCT FROM e.program_key
  GROUP BY e.run_place, e.program, e.rank, e.program_key
),
missing AS (
  SELECT
    l.run_place, l.called, l.host_rank, l.program_key, y.run_id
  FROM lost_kinds AS l
  JOIN line AS y ON y.run_place = l.run_place + 1
  LEFT JOIN became AS b
    ON b.run_place = l.run_place + 1
    AND b.called = l.called
    AND b.host_rank IS NOT DISTINCT FROM l.host_rank
  ANTI JOIN kinds AS k
    ON k.run_place = (SELECT max(z.run_place) FROM line AS z)
    AND k.called = l.called
    AND k.host_rank IS NOT DISTINCT FROM l.host_rank
    AND k.program_key IS NOT DISTINCT FROM l.program_key
  WHERE l.ordinal > coalesce(b.times, 0)
)
SELECT
  s.track, s.run_id, s.run, s.run_place, s.place, s.program,
  s.own_rank AS rank, s.module_number, s.module_id, n.shape_number AS shape,
  n.comparable_shapes, s.method, s.confidence,
  s.earlier_run_id, s.earlier_place, b.run_id AS base_run_id,
  b.place AS base_place, b.relation, b.method AS base_method,
  b.confidence AS base_confidence, y.run_id AS next_run_id,
  m.run_id AS missing_run_id
FROM sightings AS s
LEFT JOIN line AS y ON y.run_place = s.run_place + 1
JOIN numbered AS n
  ON n.track = s.track
  AND n.shape = s.shape
LEFT JOIN bases AS b
  ON b.track = s.track
  AND b.run_place = s.run_place
JOIN lasts AS t ON t.track = s.track
LEFT JOIN missing AS m
  ON m.run_place = s.run_place
  AND m.called = s.program
  AND m.host_rank IS NOT DISTINCT FROM s.rank
  AND m.program_key IS NOT DISTINCT FROM s.program_key
  AND s.run_place = t.run_place
ORDER BY s.track, s.run_place
