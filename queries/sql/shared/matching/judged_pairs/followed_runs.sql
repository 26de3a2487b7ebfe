-- step: Earlier runs whose noise counts, the latest first.
-- grain: run
SELECT
  unnest($earlier_ids) AS run_id,
  unnest(range(1, len($earlier_ids) + 1)) AS ordinal
