-- step: Modules that have fingerprints, shapes or names in common, by the
--   first rung of eight on which both sides have the same key. Who is on a
--   rung has found no partner on those above it.
-- grain: pair, match
WITH RECURSIVE climb AS (
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
    CAST(NULL AS BIGINT) AS base_place, CAST(NULL AS BIGINT) AS candidate_place
  FROM module_sides AS s
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
          AND (w.base_place IS NULL OR w.candidate_place IS NULL)
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
)
SELECT c.pair, c.base_place, c.candidate_place, c.rung - 1 AS rung
FROM climb AS c
WHERE c.is_candidate
  AND c.base_place IS NOT NULL
  AND c.candidate_place IS NOT NULL
