-- step: Of the possible pairs those that are the best of both sides, then of
--   what is left, and so on.
-- grain: pair, match
WITH RECURSIVE scored AS (
  SELECT
    m.pair, m.base_place, m.candidate_place, m.is_same_shapes,
    coalesce(l.score, 1.0) AS score,
    row_number() OVER (
      PARTITION BY m.pair
      ORDER BY
        coalesce(l.score, 1.0) * coalesce(a.score, 1.0) DESC,
        m.base_ordinal + m.candidate_ordinal,
        m.base_ordinal * m.candidate_ordinal,
        m.base_ordinal
    ) AS place
  FROM possible_pairs AS m
  LEFT JOIN opcode_likenesses AS l USING (base_id, candidate_id)
  LEFT JOIN argument_likenesses AS a
    ON a.base_entry IS NOT DISTINCT FROM m.base_entry
    AND a.candidate_entry IS NOT DISTINCT FROM m.candidate_entry
  WHERE coalesce(l.score, 1.0) >= 0.5
),
-- Those that are each other's best go together; the others look again.
greedy AS (
  SELECT s.*, FALSE AS is_taken
  FROM scored AS s
  UNION ALL
  SELECT t.* EXCLUDE (is_best, is_base_taken, is_candidate_taken) REPLACE (
    t.is_best AS is_taken
  )
  FROM (
    SELECT
      w.*,
      bool_or(w.is_best) OVER (PARTITION BY w.pair, w.base_place)
        AS is_base_taken,
      bool_or(w.is_best) OVER (PARTITION BY w.pair, w.candidate_place)
        AS is_candidate_taken
    FROM (
      SELECT
        g.*,
        g.place = min(g.place) OVER (PARTITION BY g.pair, g.base_place)
        AND g.place
          = min(g.place) OVER (PARTITION BY g.pair, g.candidate_place)
          AS is_best
      FROM greedy AS g
      WHERE NOT g.is_taken
    ) AS w
  ) AS t
  WHERE t.is_best
    OR NOT (t.is_base_taken OR t.is_candidate_taken)
)
SELECT
  g.pair, g.base_place, g.candidate_place,
  CASE WHEN g.is_same_shapes THEN 9 ELSE 10 END AS rung,
  round(g.score, 4) AS score
FROM greedy AS g
WHERE g.is_taken
