-- step: The runs in their order: those that are asked for, else the latest
--   series.
-- grain: run
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
