-- step: The dimension that most operations of other dimensions have on one
--   side alone, of one size, where the arguments have the same sizes, no
--   output has other ones, and no loop has as many trips: vmap puts it there.
-- grain: pair
WITH keys AS (
  SELECT
    r.pair, string_split(trim(r.base_dims, '[]'), ',') AS base_sides,
    string_split(trim(r.candidate_dims, '[]'), ',') AS candidate_sides,
    len(candidate_sides) > len(base_sides) AS is_in_candidate,
    CASE WHEN is_in_candidate THEN candidate_sides ELSE base_sides END
      AS more_sides,
    CASE WHEN is_in_candidate THEN base_sides ELSE candidate_sides END
      AS fewer_sides
  FROM reshaped_keys AS r
),
sized AS (
  SELECT
    k.pair, k.is_in_candidate,
    CASE
      WHEN len(k.more_sides) = len(k.fewer_sides) + 1
        THEN list_filter(
          k.more_sides,
          lambda x, i: list_concat(
            k.more_sides[:i - 1], k.more_sides[i + 1:]
          ) = k.fewer_sides
        )[1]
    END AS size
  FROM keys AS k
),
counted AS (
  SELECT
    s.pair, s.is_in_candidate, s.size, count(*) AS key_count,
    sum(count(*)) OVER (PARTITION BY s.pair) AS pair_count
  FROM sized AS s
  GROUP BY s.pair, s.is_in_candidate, s.size
)
SELECT c.pair, c.is_in_candidate, c.size
FROM counted AS c
ANTI JOIN output_edits AS o
  ON o.pair = c.pair
  AND o.base_text IS NOT NULL
  AND o.candidate_text IS NOT NULL
ANTI JOIN loop_edits AS l
  ON l.pair = c.pair
  AND c.size IN (l.base_text, l.candidate_text)
WHERE c.size <> '1'
  AND c.key_count >= 10
  AND c.key_count >= 0.5 * c.pair_count
