-- title: Matched modules of pairs of runs
-- question: Which modules of two runs are the same program, even if it was
--   renamed or renumbered?
-- definition: Modules of compilations, matched by the rules of match_rungs:
--   for each key, the n-th in the base, by rank, program, module number and
--   path, is matched with the n-th in the candidate. No rule prefers a side.
--   Remaining modules are matched by likeness, the greatest first: those with
--   equal entry shapes, or with an equal name and at most 100 positions apart
--   among the remaining ones; the likeness of the opcodes is multiplied by
--   that of the entry arrays (by element type and number of dimensions,
--   arguments and results separately). A run without ranks and a run of one
--   rank count as the same host. Modules without a partner have a row of their
--   own.
-- grain: pair of modules
-- param base_ids BIGINT[] = NULL: Numbers of the runs to compare with.
-- param candidate_ids BIGINT[] = NULL: Numbers of the runs in question, in the
--   same order.
-- param base_program VARCHAR = NULL: Only this program of the base.
-- param candidate_program VARCHAR = NULL: Only this program of the candidate;
--   with base_program the same one, whatever both are called.
-- param assigned_only BOOLEAN = false: Only modules with a buffer assignment.
-- column pair BIGINT id neutral: Position of the pair of runs in the lists.
-- column method VARCHAR name neutral: What is equal, see match_rungs; NULL
--   without a partner.
-- column confidence DOUBLE score higher_is_better: Confidence of the match,
--   from 0 to 1.
-- column rank INTEGER id neutral: Rank in the candidate's terms.
-- column differing_keys VARCHAR name neutral: Differences of the inputs that
--   make the two incomparable; empty if they are comparable.
-- column base_run_id BIGINT id neutral: run_id of the base.
-- column base_place BIGINT id neutral: Place of the module in its run, see
--   compilations; NULL where only the other run has it, as all of these.
-- column base_program VARCHAR name neutral: Name of the program there.
-- column base_key BIGINT id neutral: Its program_key.
-- column base_module_number INTEGER id neutral: XLA's number of the module.
-- column base_rank INTEGER id neutral: Rank that its files name.
-- column base_platform VARCHAR name neutral: What it was compiled for.
-- column base_module_id BIGINT id neutral: Its content.
-- column base_locations_id BIGINT id neutral: Its source locations.
-- column base_path VARCHAR name neutral: Its file.
-- column base_folder VARCHAR name neutral: Folder of that, with a slash.
-- column base_has_assignment BOOLEAN flag neutral: Whether it has a buffer
--   assignment.
-- column base_exact BIGINT id neutral: Its exact_fingerprint.
-- column base_graph BIGINT id neutral: Its graph_fingerprint.
-- column base_source BIGINT id neutral: exact_fingerprint of its source.
-- column candidate_run_id BIGINT id neutral: run_id of the candidate.
-- column candidate_place BIGINT id neutral: Place of the module in its run,
--   see compilations; NULL where only the other run has it, as all of these.
-- column candidate_program VARCHAR name neutral: Name of the program there.
-- column candidate_key BIGINT id neutral: Its program_key.
-- column candidate_module_number INTEGER id neutral: XLA's number of the
--   module.
-- column candidate_rank INTEGER id neutral: Rank that its files name.
-- column candidate_platform VARCHAR name neutral: What it was compiled for.
-- column candidate_module_id BIGINT id neutral: Its content.
-- column candidate_locations_id BIGINT id neutral: Its source locations.
-- column candidate_path VARCHAR name neutral: Its file.
-- column candidate_folder VARCHAR name neutral: Folder of that, with a slash.
-- column candidate_has_assignment BOOLEAN flag neutral: Whether it has a
--   buffer assignment.
-- column candidate_exact BIGINT id neutral: Its exact_fingerprint.
-- column candidate_graph BIGINT id neutral: Its graph_fingerprint.
-- column candidate_source BIGINT id neutral: exact_fingerprint of its source.
WITH RECURSIVE asked AS MATERIALIZED (
  -- Arguments are read inside of macros, where no CTE may have their names.
  SELECT
    unnest($base_ids) AS base_run_id, unnest($candidate_ids) AS own_run_id,
    unnest(range(1, len($base_ids) + 1)) AS pair
),
modules_there AS MATERIALIZED (
  SELECT c.*
  FROM compilations(
    run_ids := coalesce(
      (SELECT list_distinct(list(base_run_id) || list(own_run_id)) FROM asked),
      CAST([] AS BIGINT[])
    )
  ) AS c
  WHERE c.has_assignment
    OR NOT $assigned_only
),
lone AS (
  SELECT
    m.run_id, any_value(m.rank) AS own_rank,
    count(DISTINCT m.rank) + CAST(bool_or(m.rank IS NULL) AS INTEGER) = 1
      AS is_lone
  FROM modules_there AS m
  GROUP BY m.run_id
),
pairs AS MATERIALIZED (
  SELECT
    a.pair, a.base_run_id, a.own_run_id, c.own_rank AS host_rank,
    coalesce(
      b.is_lone AND c.is_lone
      AND (b.own_rank IS NULL) <> (c.own_rank IS NULL), FALSE
    ) AS is_one_host
  FROM asked AS a
  LEFT JOIN lone AS b ON b.run_id = a.base_run_id
  LEFT JOIN lone AS c ON c.run_id = a.own_run_id
),
sides AS MATERIALIZED (
  SELECT
    p.pair, s.is_candidate, m.* EXCLUDE (rank, run_id),
    CASE WHEN p.is_one_host THEN p.host_rank ELSE m.rank END AS rank,
    CASE
      WHEN s.is_candidate THEN m.program
      WHEN $base_program IS NOT NULL AND $candidate_program IS NOT NULL
        THEN $candidate_program
      ELSE m.program
    END AS called
  FROM pairs AS p
  CROSS JOIN (SELECT unnest([FALSE, TRUE]) AS is_candidate) AS s
  JOIN modules_there AS m
    ON m.run_id
      = CASE WHEN s.is_candidate THEN p.own_run_id ELSE p.base_run_id END
  WHERE CASE WHEN s.is_candidate THEN $candidate_program ELSE $base_program END
      IS NULL
    OR m.program
      = CASE WHEN s.is_candidate THEN $candidate_program ELSE $base_program END
),
-- Who stands on a rung has found nobody on those above it.
climb AS (
  SELECT
    1 AS rung, s.pair, s.is_candidate, s.rank, s.place,
    [
      CASE
        WHEN s.exact_fingerprint IS NOT NULL
          THEN hash(s.called, s.program_key, s.exact_fingerprint)
      END,
      CASE
        WHEN s.source_graph IS NOT NULL
          THEN hash(s.called, s.program_key, s.source_graph)
      END,
      hash(s.called, s.program_key),
      CASE
        WHEN s.source_shapes IS NOT NULL THEN hash(s.called, s.source_shapes)
      END,
      CASE
        WHEN s.exact_fingerprint IS NOT NULL THEN hash(s.exact_fingerprint)
      END,
      CASE
        WHEN s.graph_fingerprint IS NOT NULL THEN hash(s.graph_fingerprint)
      END,
      CASE WHEN s.source_graph IS NOT NULL THEN hash(s.source_graph) END,
      hash(s.called)
    ] AS keys,
    CAST(NULL AS BIGINT) AS base_place, CAST(NULL AS BIGINT) AS own_place
  FROM sides AS s
  UNION ALL
  SELECT
    n.rung + 1, n.pair, n.is_candidate, n.rank, n.place, n.keys,
    max(CASE WHEN NOT n.is_candidate THEN n.place END) OVER nth_of_key,
    max(CASE WHEN n.is_candidate THEN n.place END) OVER nth_of_key
  FROM (
    SELECT
      k.*,
      row_number() OVER (
        PARTITION BY k.pair, k.is_candidate, k.rank, k.key ORDER BY k.place
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
            PARTITION BY w.pair, w.is_candidate, w.rank, w.keys[w.rung]
          ) AS namesakes
        FROM climb AS w
        WHERE w.rung <= len(w.keys)
          AND (w.base_place IS NULL OR w.own_place IS NULL)
      ) AS c
      WINDOW same_name AS (PARTITION BY c.pair, c.rank, c.keys[c.rung])
    ) AS k
  ) AS n
  WINDOW
    nth_of_key AS (
      PARTITION BY
        n.pair, n.rank, n.key, n.ordinal,
        CASE WHEN n.key IS NULL THEN n.is_candidate END
    )
),
found AS MATERIALIZED (
  SELECT c.pair, c.base_place, c.own_place, c.rung - 1 AS rung
  FROM climb AS c
  WHERE c.is_candidate
    AND c.base_place IS NOT NULL
    AND c.own_place IS NOT NULL
),
-- A join of columns: with CASE each meets each.
left_over AS MATERIALIZED (
  SELECT
    s.*,
    row_number() OVER (
      PARTITION BY s.pair, s.is_candidate ORDER BY s.place
    ) AS ordinal
  FROM sides AS s
  ANTI JOIN (
    SELECT x.pair, FALSE AS is_candidate, x.base_place AS place FROM found AS x
    UNION ALL
    SELECT x.pair, TRUE, x.own_place FROM found AS x
  ) AS f
    ON f.pair = s.pair
    AND f.is_candidate = s.is_candidate
    AND f.place = s.place
),
-- A join of one key each: with OR each meets each.
couples AS (
  SELECT
    b.pair, b.ordinal AS base_ordinal, c.ordinal AS own_ordinal
  FROM left_over AS b
  JOIN left_over AS c
    ON c.pair = b.pair
    AND c.rank IS NOT DISTINCT FROM b.rank
    AND c.source_shapes = b.source_shapes
  WHERE NOT b.is_candidate
    AND c.is_candidate
  UNION
  SELECT b.pair, b.ordinal, c.ordinal
  FROM left_over AS b
  JOIN left_over AS c
    ON c.pair = b.pair
    AND c.rank IS NOT DISTINCT FROM b.rank
    AND c.entry_shapes = b.entry_shapes
  WHERE NOT b.is_candidate
    AND c.is_candidate
  UNION
  SELECT b.pair, b.ordinal, c.ordinal
  FROM left_over AS b
  JOIN left_over AS c
    ON c.pair = b.pair
    AND c.rank IS NOT DISTINCT FROM b.rank
    AND c.called = b.called
    AND c.ordinal BETWEEN b.ordinal - 100 AND b.ordinal + 100
  WHERE NOT b.is_candidate
    AND c.is_candidate
),
maybe AS MATERIALIZED (
  SELECT
    b.pair, b.ordinal AS base_ordinal, c.ordinal AS own_ordinal,
    b.place AS base_place, c.place AS own_place,
    b.entry_shapes AS base_entry, c.entry_shapes AS own_entry,
    CASE
      WHEN b.source_id IS NULL OR c.source_id IS NULL THEN b.module_id
      ELSE b.source_id
    END AS base_id,
    CASE
      WHEN b.source_id IS NULL OR c.source_id IS NULL THEN c.module_id
      ELSE c.source_id
    END AS own_id,
    coalesce(b.source_shapes = c.source_shapes, FALSE)
      OR coalesce(b.entry_shapes = c.entry_shapes, FALSE) AS is_same_shapes
  FROM couples AS o
  JOIN left_over AS b
    ON b.pair = o.pair
    AND NOT b.is_candidate
    AND b.ordinal = o.base_ordinal
  JOIN left_over AS c
    ON c.pair = o.pair
    AND c.is_candidate
    AND c.ordinal = o.own_ordinal
),
compared AS (
  -- Unnested, they are taken for a few rows.
  SELECT unnest(list_distinct(list(base_id) || list(own_id))) AS module_id
  FROM maybe
),
-- Fixed before it meets the forms: else the instructions of all modules do.
forms_there AS MATERIALIZED (
  SELECT i.module_id, i.form_id, count(*) AS times
  FROM compared
  JOIN store.instructions AS i USING (module_id)
  WHERE i.computation_id IS NOT NULL
  GROUP BY i.module_id, i.form_id
),
opcodes AS MATERIALIZED (
  SELECT
    i.module_id, coalesce(f.opcode, '') AS opcode, sum(i.times) AS times
  FROM forms_there AS i
  JOIN store.instruction_forms AS f USING (form_id)
  GROUP BY i.module_id, coalesce(f.opcode, '')
),
likenesses AS (
  SELECT
    base_id, own_id,
    CAST(sum(least(base_times, own_times)) AS DOUBLE)
      / sum(greatest(base_times, own_times)) AS score
  FROM (
    SELECT
      base_id, own_id, opcode,
      coalesce(max(times) FILTER (WHERE NOT is_own), 0) AS base_times,
      coalesce(max(times) FILTER (WHERE is_own), 0) AS own_times
    FROM (
      SELECT m.base_id, m.own_id, FALSE AS is_own, o.opcode, o.times
      FROM (SELECT DISTINCT base_id, own_id FROM maybe) AS m
      JOIN opcodes AS o ON o.module_id = m.base_id
      UNION ALL
      SELECT m.base_id, m.own_id, TRUE, o.opcode, o.times
      FROM (SELECT DISTINCT base_id, own_id FROM maybe) AS m
      JOIN opcodes AS o ON o.module_id = m.own_id
    )
    GROUP BY base_id, own_id, opcode
  )
  GROUP BY base_id, own_id
),
-- The first step of a training makes the optimiser's state that the others
-- are given: namesakes that take and give as many arrays come first.
arrays AS (
  SELECT
    e.entry, a.side, regexp_extract(a.shape, '^\w+') AS element_type,
    len(a.shape) - len(replace(a.shape, ',', ''))
      - CAST(contains(a.shape, '[]') AS INTEGER) AS commas,
    count(*) AS times
  FROM (
    SELECT base_entry AS entry FROM maybe
    UNION
    SELECT own_entry FROM maybe
  ) AS e,
  LATERAL (
    SELECT
      s.side,
      unnest(regexp_extract_all(
        split_part(e.entry, '->', s.side), '\w+\[[^\]]*\]'
      )) AS shape
    FROM (SELECT unnest([1, 2]) AS side) AS s
  ) AS a
  GROUP BY ALL
),
array_likenesses AS (
  SELECT
    base_entry, own_entry,
    CAST(sum(least(base_times, own_times)) AS DOUBLE)
      / sum(greatest(base_times, own_times)) AS score
  FROM (
    SELECT
      base_entry, own_entry, side, element_type, commas,
      coalesce(max(times) FILTER (WHERE NOT is_own), 0) AS base_times,
      coalesce(max(times) FILTER (WHERE is_own), 0) AS own_times
    FROM (
      SELECT m.*, FALSE AS is_own, a.* EXCLUDE (entry)
      FROM (SELECT DISTINCT base_entry, own_entry FROM maybe) AS m
      JOIN arrays AS a ON a.entry = m.base_entry
      UNION ALL
      SELECT m.*, TRUE, a.* EXCLUDE (entry)
      FROM (SELECT DISTINCT base_entry, own_entry FROM maybe) AS m
      JOIN arrays AS a ON a.entry = m.own_entry
    )
    GROUP BY ALL
  )
  GROUP BY base_entry, own_entry
),
scored AS (
  SELECT
    m.pair, m.base_place, m.own_place, m.is_same_shapes,
    coalesce(l.score, 1.0) AS score,
    row_number() OVER (
      PARTITION BY m.pair
      ORDER BY
        coalesce(l.score, 1.0) * coalesce(a.score, 1.0) DESC,
        m.base_ordinal + m.own_ordinal, m.base_ordinal * m.own_ordinal,
        m.base_ordinal
    ) AS place
  FROM maybe AS m
  LEFT JOIN likenesses AS l USING (base_id, own_id)
  LEFT JOIN array_likenesses AS a
    ON a.base_entry IS NOT DISTINCT FROM m.base_entry
    AND a.own_entry IS NOT DISTINCT FROM m.own_entry
  WHERE coalesce(l.score, 1.0) >= 0.5
),
-- Those that are each other's best go together; the others look again.
greedy AS (
  SELECT s.*, FALSE AS is_taken
  FROM scored AS s
  UNION ALL
  SELECT t.* EXCLUDE (is_best, is_base_taken, is_own_taken) REPLACE (
    t.is_best AS is_taken
  )
  FROM (
    SELECT
      w.*,
      bool_or(w.is_best) OVER (PARTITION BY w.pair, w.base_place)
        AS is_base_taken,
      bool_or(w.is_best) OVER (PARTITION BY w.pair, w.own_place)
        AS is_own_taken
    FROM (
      SELECT
        g.*,
        g.place = min(g.place) OVER (PARTITION BY g.pair, g.base_place)
        AND g.place = min(g.place) OVER (PARTITION BY g.pair, g.own_place)
          AS is_best
      FROM greedy AS g
      WHERE NOT g.is_taken
    ) AS w
  ) AS t
  WHERE t.is_best
    OR NOT (t.is_base_taken OR t.is_own_taken)
),
alike AS MATERIALIZED (
  SELECT
    g.pair, g.base_place, g.own_place,
    CASE WHEN g.is_same_shapes THEN 9 ELSE 10 END AS rung,
    round(g.score, 4) AS score
  FROM greedy AS g
  WHERE g.is_taken
),
matches AS (
  SELECT f.pair, f.base_place, f.own_place, f.rung, NULL AS score
  FROM found AS f
  UNION ALL
  SELECT a.pair, a.base_place, a.own_place, a.rung, a.score
  FROM alike AS a
  UNION ALL
  SELECT
    o.pair, CASE WHEN NOT o.is_candidate THEN o.place END,
    CASE WHEN o.is_candidate THEN o.place END, NULL, NULL
  FROM left_over AS o
  ANTI JOIN (
    SELECT x.pair, FALSE AS is_candidate, x.base_place AS place FROM alike AS x
    UNION ALL
    SELECT x.pair, TRUE, x.own_place FROM alike AS x
  ) AS a
    ON a.pair = o.pair
    AND a.is_candidate = o.is_candidate
    AND a.place = o.place
)
SELECT
  m.pair, r.method, coalesce(r.confidence, m.score) AS confidence,
  CASE WHEN c.place IS NULL THEN b.rank ELSE c.rank END AS rank,
  CASE
    WHEN b.place IS NOT NULL AND c.place IS NOT NULL THEN k.differing_keys
  END AS differing_keys,
  p.base_run_id AS base_run_id, m.base_place AS base_place,
  b.program AS base_program, b.program_key AS base_key,
  b.module_number AS base_module_number, b.own_rank AS base_rank,
  b.platform AS base_platform, b.module_id AS base_module_id,
  b.locations_id AS base_locations_id, b.path AS base_path,
  b.folder AS base_folder, b.has_assignment AS base_has_assignment,
  b.exact_fingerprint AS base_exact, b.graph_fingerprint AS base_graph,
  b.source_exact AS base_source,
  p.own_run_id AS candidate_run_id, m.own_place AS candidate_place,
  c.program AS candidate_program, c.program_key AS candidate_key,
  c.module_number AS candidate_module_number, c.own_rank AS candidate_rank,
  c.platform AS candidate_platform, c.module_id AS candidate_module_id,
  c.locations_id AS candidate_locations_id, c.path AS candidate_path,
  c.folder AS candidate_folder, c.has_assignment AS candidate_has_assignment,
  c.exact_fingerprint AS candidate_exact,
  c.graph_fingerprint AS candidate_graph,
  c.source_exact AS candidate_source
FROM matches AS m
JOIN pairs AS p USING (pair)
LEFT JOIN match_rungs() AS r ON r.rung = m.rung
LEFT JOIN (SELECT * FROM sides WHERE NOT is_candidate) AS b
  ON b.pair = m.pair
  AND b.place = m.base_place
LEFT JOIN (SELECT * FROM sides WHERE is_candidate) AS c
  ON c.pair = m.pair
  AND c.place = m.own_place,
LATERAL (
  SELECT d.*
  FROM differing_keys(
    base_key := b.program_key, base_shapes := b.entry_shapes,
    base_source := b.source_shapes, base_partitions := b.num_partitions,
    base_platform := b.platform, candidate_key := c.program_key,
    candidate_shapes := c.entry_shapes, candidate_source := c.source_shapes,
    candidate_partitions := c.num_partitions, candidate_platform := c.platform
  ) AS d
) AS k
