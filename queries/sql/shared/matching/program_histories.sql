-- title: Programs over all runs
-- question: Which modules of all runs are one program, even after a rename?
-- definition: Modules of one program and kind (program_kinds) have one
--   history. A program that ends is continued by one that appears in a later
--   run, and that was compiled from the same graph, or has its name and
--   program_key: the same graph counts before the name, then the shorter gap.
--   A program continues one other at most.
-- grain: module occurrence with a buffer assignment
-- param run_ids BIGINT[] = NULL from 0: run_id of the runs; NULL for all.
-- column run_id
-- column path
-- column part INTEGER id neutral: Number of the module in that file, from 0.
-- column program
-- column history BIGINT id neutral: Number of the history, in the order in
--   which programs appear.
WITH RECURSIVE occurrences AS MATERIALIZED (
  SELECT
    k.run_id, k.path, k.part, k.program AS program_name, k.kind,
    k.program_key, k.source_graph, -o.place AS run_place
  FROM program_kinds(run_ids := $run_ids) AS k
  JOIN run_order() AS o USING (run_id)
),
programs AS MATERIALIZED (
  SELECT
    row_number() OVER (
      ORDER BY
        min(o.run_place),
        arg_min(o.path, struct_pack(run := o.run_place, path := o.path)),
        o.program_name, o.kind
    ) AS history,
    o.program_name, o.kind, any_value(o.program_key) AS program_key,
    min(o.run_place) AS first_run, max(o.run_place) AS last_run,
    arg_min(o.source_graph, o.run_place) AS first_graph,
    arg_max(o.source_graph, o.run_place) AS last_graph
  FROM occurrences AS o
  GROUP BY o.program_name, o.kind
),
ended AS (
  SELECT p.*
  FROM programs AS p
  WHERE p.last_run < (SELECT max(q.last_run) FROM programs AS q)
),
begun AS (
  SELECT p.*
  FROM programs AS p
  WHERE p.first_run > (SELECT min(q.first_run) FROM programs AS q)
),
candidates AS MATERIALIZED (
  SELECT
    e.history AS ended, b.history AS begun, TRUE AS has_same_graph,
    b.first_run - e.last_run AS gap
  FROM ended AS e
  JOIN begun AS b
    ON b.first_graph = e.last_graph
    AND b.first_run > e.last_run
  UNION ALL
  SELECT e.history, b.history, FALSE, b.first_run - e.last_run
  FROM ended AS e
  JOIN begun AS b
    ON b.program_name = e.program_name
    AND b.program_key = e.program_key
    AND b.first_run > e.last_run
),
-- The best of both sides, so that neither is continued twice.
links AS MATERIALIZED (
  SELECT DISTINCT c.ended, c.begun
  FROM (
    SELECT
      x.ended, x.begun,
      row_number() OVER (
        PARTITION BY x.ended ORDER BY x.has_same_graph DESC, x.gap, x.begun
      ) AS best_begun,
      row_number() OVER (
        PARTITION BY x.begun ORDER BY x.has_same_graph DESC, x.gap, x.ended
      ) AS best_ended
    FROM candidates AS x
  ) AS c
  WHERE c.best_begun = 1
    AND c.best_ended = 1
),
followed AS (
  SELECT p.history AS first_history, p.history
  FROM programs AS p
  ANTI JOIN links AS l ON l.begun = p.history
  UNION ALL
  SELECT f.first_history, l.begun
  FROM followed AS f
  JOIN links AS l ON l.ended = f.history
)
SELECT
  o.run_id, o.path, o.part, o.program_name AS program,
  f.first_history AS history
FROM occurrences AS o
JOIN programs AS p USING (program_name, kind)
JOIN followed AS f ON f.history = p.history
