-- step: The first run with the level of the candidate.
-- grain: pair, memory space
-- materialised: no
SELECT
  b.pair, b.space_color, arg_min(b.run_id, b.run_place) AS run_id,
  arg_min(b.place, b.run_place) AS place, min(b.run_place) AS run_place
FROM levels_with_breaks AS b
WHERE b.is_alike
  AND b.run_place > b.break_place
  AND b.run_place <= b.candidate_run_place
GROUP BY b.pair, b.space_color
