-- title: Programs followed through a series
-- question: Which module of each run is which program, even after a rename or
--   a missing run?
-- definition: Modules with a buffer assignment, matched from each run to the
--   next by module_ladder. What is left of a run, and new in a later one, is
--   matched on the same ladder between these two: the latest such run counts.
--   Each row but the first of a track says which module it follows, why, and
--   how sure that is.
-- grain: compiled module
-- leading: track, run, program, rank, method, confidence
-- param run_ids BIGINT[] = NULL from 0: Numbers of the runs, the earliest
--   first; NULL for all runs in their order.
-- column track BIGINT id neutral: Number of the program.
-- column run_id
-- column run
-- column run_place BIGINT id neutral: 1 for the earliest run.
-- column place BIGINT id neutral: Place of the module in its run, see
--   compilations.
-- column program
-- column rank
-- column module_number
-- column method VARCHAR name neutral: Why it is the program before, see
--   match_rungs; NULL for the first row.
-- column confidence DOUBLE score higher_is_better: How sure that is.
-- column earlier_run_id BIGINT id neutral: Run that it was in before.
-- column earlier_place BIGINT id neutral: Its place there.
WITH RECURSIVE line AS MATERIALIZED (
  -- Arguments are read inside of macros, where no CTE may have their names.
  SELECT
    unnest($run_ids) AS run_id,
    unnest(range(1, len($run_ids) + 1)) AS run_place
  UNION ALL
  SELECT o.run_id, row_number() OVER (ORDER BY o.place DESC)
  FROM run_order() AS o
  WHERE $run_ids IS NULL
),
held AS MATERIALIZED (
  SELECT c.*, l.run_place
  FROM compilations(run_ids := (
    SELECT coalesce(list(y.run_id), []) FROM line AS y
  )) AS c
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
)
SELECT
  f.track, f.run_id, h.run, h.run_place, f.place, h.program, h.rank,
  h.module_number, f.method, f.confidence, f.earlier_run_id, f.earlier_place
FROM followed AS f
JOIN held AS h
  ON h.run_id = f.run_id
  AND h.place = f.place
ORDER BY f.track, h.run_place
