-- step: Modules without such a partner, numbered, with their arguments and
--   results sorted: a function whose arguments were reordered has the same.
-- grain: pair, side, module
SELECT
  s.*,
  list_transform(
    string_split(s.source_shapes, '->'),
    lambda x: list_sort(regexp_extract_all(x, '\w+\[[^\]]*\]'))
  ) AS source_arrays,
  list_transform(
    string_split(s.entry_shapes, '->'),
    lambda x: list_sort(regexp_extract_all(x, '\w+\[[^\]]*\]'))
  ) AS entry_arrays,
  row_number() OVER (
    PARTITION BY s.pair, s.is_candidate ORDER BY s.place
  ) AS ordinal
FROM module_sides AS s
ANTI JOIN (
  SELECT x.pair, FALSE AS is_candidate, x.base_place AS place
  FROM rung_matches AS x
  UNION ALL
  SELECT x.pair, TRUE, x.candidate_place FROM rung_matches AS x
) AS f
  ON f.pair = s.pair
  AND f.is_candidate = s.is_candidate
  AND f.place = s.place
