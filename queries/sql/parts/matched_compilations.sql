-- title: Compilations of two runs, side by side
-- question: Which compilation of the candidate is which of the base, also
--   where a program has another name or number?
-- definition: Every module of both runs that final_modules would show, matched
--   on a ladder of keys, the surest first: program with program_key (entry
--   shapes and num_partitions) and exact_fingerprint, or graph_fingerprint of
--   its source (before_optimizations), or neither; program with the entry
--   shapes of its source; exact_fingerprint; graph_fingerprint;
--   graph_fingerprint of the source; program alone, where only one is left of
--   that name in each run; each together with the rank, which a run without
--   ranks takes over from one of a single rank. On each rung the n-th
--   of a key in the base, by rank, program and module number, goes with the
--   n-th in the candidate. hlodb diff climbs the same ladder, and then guesses
--   by opcodes what is left, which is not done here.
-- grain: pair of compilations
-- needs: chosen_pair, lone_rank, ranked_snapshots
-- param base
-- param candidate
-- param program
-- column pair_id BIGINT id neutral: Number of the pair.
-- column method VARCHAR name neutral: What is equal: the rung of the ladder.
-- column base
-- column candidate
-- column rank
-- column base_rank INTEGER id neutral: Rank in the base; NULL where its files
--   name none.
-- column candidate_rank INTEGER id neutral: The same in the candidate.
-- column base_run_id BIGINT id neutral: Number of the base.
-- column candidate_run_id BIGINT id neutral: Number of the candidate.
-- column base_program VARCHAR name neutral: Name of the program in the base.
-- column candidate_program VARCHAR name neutral: Its name in the candidate.
-- column base_module_number INTEGER id neutral: XLA's number of the module in
--   the base.
-- column candidate_module_number INTEGER id neutral: The same in the
--   candidate.
-- column base_module_id BIGINT id neutral: Last snapshot in the base.
-- column candidate_module_id BIGINT id neutral: The same in the candidate.
-- column base_folder VARCHAR name neutral: Folder of the snapshot in the base.
-- column candidate_folder VARCHAR name neutral: The same in the candidate.
WITH RECURSIVE paired_runs AS MATERIALIZED (
  -- Arguments are read inside of macros, where no CTE may have this name.
  SELECT * FROM chosen_pair(base := $base, candidate := $candidate)
),
host AS MATERIALIZED (
  SELECT *
  FROM lone_rank(
    base := (SELECT c.base FROM paired_runs AS c),
    candidate := (SELECT c.candidate FROM paired_runs AS c)
  )
),
snapshots AS (
  SELECT FALSE AS is_candidate, b.*
  FROM ranked_snapshots(run := (SELECT c.base FROM paired_runs AS c)) AS b
  UNION ALL
  SELECT TRUE, b.*
  FROM ranked_snapshots(run := (SELECT c.candidate FROM paired_runs AS c))
    AS b
),
occurrences AS (
  SELECT
    s.is_candidate, s.run_id, s.module_id, s.program AS program_name,
    s.program_key, coalesce(s.rank, h.lone_rank) AS rank, s.rank AS own_rank,
    s.module_number, s.path, s.folder, s.part,
    s.exact_fingerprint, s.graph_fingerprint, s.source_graph,
    regexp_replace(s.source_layout, '\{[^}]*\}|\s', '', 'g') AS source_shapes
  FROM snapshots AS s
  -- Without a pair there is nothing, though no run means the latest one.
  CROSS JOIN paired_runs AS p
  CROSS JOIN host AS h
  WHERE s.place = 1
),
compilations AS (
  SELECT
    o.*,
    row_number() OVER (
      PARTITION BY o.is_candidate
      ORDER BY o.rank, o.program_name, o.module_number, o.path, o.part
    ) AS place,
    [
      CASE
        WHEN o.exact_fingerprint IS NOT NULL
          THEN CAST(
            row(o.program_name, o.program_key, o.exact_fingerprint) AS VARCHAR
          )
      END,
      CASE
        WHEN o.source_graph IS NOT NULL
          THEN CAST(
            row(o.program_name, o.program_key, o.source_graph) AS VARCHAR
          )
      END,
      CAST(row(o.program_name, o.program_key) AS VARCHAR),
      CASE
        WHEN o.source_shapes IS NOT NULL
          THEN CAST(row(o.program_name, o.source_shapes) AS VARCHAR)
      END,
      CAST(o.exact_fingerprint AS VARCHAR),
      CAST(o.graph_fingerprint AS VARCHAR), CAST(o.source_graph AS VARCHAR),
      o.program_name
    ] AS keys
  FROM occurrences AS o
),
-- Who stands on a rung has found nobody on those below it.
climb AS (
  SELECT
    1 AS rung, c.is_candidate, c.rank, c.keys, c.place,
    CAST(NULL AS BIGINT) AS base_place, CAST(NULL AS BIGINT) AS candidate_place
  FROM compilations AS c
  UNION ALL
  SELECT
    n.rung + 1, n.is_candidate, n.rank, n.keys, n.place,
    max(CASE WHEN NOT n.is_candidate THEN n.place END) OVER nth_of_key,
    max(CASE WHEN n.is_candidate THEN n.place END) OVER nth_of_key
  FROM (
    SELECT
      k.*,
      row_number() OVER (
        PARTITION BY k.is_candidate, k.rank, k.key ORDER BY k.place
      ) AS ordinal
    FROM (
      SELECT
        c.*,
        -- The last rung, a name alone, is for those that share it with none.
        CASE
          WHEN c.rung < len(c.keys) OR max(c.namesakes) OVER same_name = 1
            THEN c.keys[c.rung]
        END AS key
      FROM (
        SELECT
          w.*,
          count(*) OVER (
            PARTITION BY w.is_candidate, w.rank, w.keys[w.rung]
          ) AS namesakes
        FROM climb AS w
        WHERE w.rung <= len(w.keys)
          AND (w.base_place IS NULL OR w.candidate_place IS NULL)
      ) AS c
      WINDOW same_name AS (PARTITION BY c.rank, c.keys[c.rung])
    ) AS k
  ) AS n
  WINDOW
    nth_of_key AS (
      PARTITION BY
        n.rank, n.key, n.ordinal,
        CASE WHEN n.key IS NULL THEN n.is_candidate END
    )
)
SELECT
  c.place AS pair_id,
  [
    'program', 'program', 'program', 'program and source shapes',
    'exact fingerprint', 'graph fingerprint', 'source graph fingerprint',
    'program name'
  ][p.rung - 1] AS method,
  r.base, r.candidate, c.rank, b.own_rank AS base_rank,
  c.own_rank AS candidate_rank, b.run_id AS base_run_id,
  c.run_id AS candidate_run_id, b.program_name AS base_program,
  c.program_name AS candidate_program, b.module_number AS base_module_number,
  c.module_number AS candidate_module_number, b.module_id AS base_module_id,
  c.module_id AS candidate_module_id, b.folder AS base_folder,
  c.folder AS candidate_folder
FROM climb AS p
JOIN compilations AS b
  ON NOT b.is_candidate
  AND b.place = p.base_place
JOIN compilations AS c
  ON c.is_candidate
  AND c.place = p.candidate_place
CROSS JOIN paired_runs AS r
WHERE p.is_candidate
  AND ($program IS NULL OR $program IN (b.program_name, c.program_name))
