-- step: The same of the arrays that two programs take and give, by type and
--   rank. The first step of a training makes the state of the optimiser that
--   the others are given: namesakes that take and give as many arrays come
--   first.
-- grain: pair of entry shapes
-- materialised: no
WITH arrays AS (
  SELECT
    e.entry, a.side, regexp_extract(a.shape, '^\w+') AS element_type,
    len(a.shape) - len(replace(a.shape, ',', ''))
      - CAST(contains(a.shape, '[]') AS INTEGER) AS commas,
    count(*) AS times
  FROM (
    SELECT base_entry AS entry FROM possible_pairs
    UNION
    SELECT candidate_entry FROM possible_pairs
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
)
SELECT
  base_entry, candidate_entry,
  CAST(sum(least(base_times, candidate_times)) AS DOUBLE)
    / sum(greatest(base_times, candidate_times)) AS score
FROM (
  SELECT
    base_entry, candidate_entry, side, element_type, commas,
    coalesce(max(times) FILTER (WHERE NOT is_candidate), 0) AS base_times,
    coalesce(max(times) FILTER (WHERE is_candidate), 0) AS candidate_times
  FROM (
    SELECT m.*, FALSE AS is_candidate, a.* EXCLUDE (entry)
    FROM (SELECT DISTINCT base_entry, candidate_entry FROM possible_pairs) AS m
    JOIN arrays AS a ON a.entry = m.base_entry
    UNION ALL
    SELECT m.*, TRUE, a.* EXCLUDE (entry)
    FROM (SELECT DISTINCT base_entry, candidate_entry FROM possible_pairs) AS m
    JOIN arrays AS a ON a.entry = m.candidate_entry
  )
  GROUP BY ALL
)
GROUP BY base_entry, candidate_entry
