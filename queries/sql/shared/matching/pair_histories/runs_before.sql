-- step: The last run before that.
-- grain: pair, memory space
-- materialised: no
SELECT
  b.pair, b.space_color, arg_max(b.run_id, b.run_place) AS run_id,
  arg_max(b.place, b.run_place) AS place
FROM levels_with_breaks AS b
LEFT JOIN first_runs AS f USING (pair, space_color)
WHERE b.run_place < coalesce(f.run_place, b.candidate_run_place)
  AND (b.is_alike OR NOT b.is_comparable)
GROUP BY b.pair, b.space_color
