-- step: Of these, patterns that both sides have with other numbers: more or
--   fewer layers. There are two of block_0 and block_1. They are called as the
--   name before the number is, where that is one word of what is numbered
--   (scale_0, ['experts'][0]), and else layers: ['encoder'][0] is one, and
--   Dense_0 a Dense layer. Those of the optimiser alone are its state: another
--   one keeps more or fewer moments.
-- grain: pair, number in the base, number in the candidate
-- materialised: no
WITH numbers AS (
  SELECT
    c.base_id, c.candidate_id, c.pattern, n.number_index,
    regexp_extract(
      string_split(c.pattern, '*')[n.number_index],
      '(?:^|[^A-Za-z0-9_])([a-z]{3,}[a-xz]_?|[a-z]{3,}s\W+)$', 1
    ) AS word,
    regexp_extract(
      string_split(c.pattern, '*')[n.number_index],
      '(?:^|[^A-Za-z0-9_])([A-Z][A-Za-z]*)_$', 1
    ) AS module_name,
    count(DISTINCT n.value) FILTER (WHERE a.module_id = c.base_id)
      AS base_times,
    count(DISTINCT n.value) FILTER (WHERE a.module_id = c.candidate_id)
      AS candidate_times
  FROM patterns_of_unpaired AS c
  JOIN arguments AS a
    ON a.module_id IN (c.base_id, c.candidate_id)
    AND regexp_replace(a.argument, '\d+', '*', 'g') = c.pattern,
  LATERAL (
    SELECT
      unnest(regexp_extract_all(a.argument, '\d+')) AS value,
      generate_subscripts(regexp_extract_all(a.argument, '\d+'), 1)
        AS number_index
  ) AS n
  WHERE c.base_times > c.fewer
    AND c.more <> c.fewer
    AND c.is_kept
  GROUP BY c.base_id, c.candidate_id, c.pattern, n.number_index
  HAVING base_times <> candidate_times
)
SELECT
  n.base_id, n.candidate_id, 5 AS place, 'repeated' AS change,
  CASE
    WHEN bool_and(coalesce(c.state, 'weights') <> 'weights') THEN min(c.state)
    WHEN count(DISTINCT n.word) = 1
      AND NOT regexp_matches(
        min(n.word),
        '^$|layer|block|^(param|weight|state|model|arg)|(ch|ss|x)\W*$'
      )
      THEN rtrim(regexp_extract(min(n.word), '[a-z]+'), 's') || 's'
    WHEN count(DISTINCT n.module_name) = 1
      AND NOT regexp_matches(min(n.module_name), '^$|Layer$')
      THEN min(n.module_name) || ' layers'
    ELSE 'layers'
  END AS meaning, format('{:,}', n.base_times) AS base_size,
  format('{:,}', n.candidate_times) AS candidate_size,
  sum(c.more + c.fewer) AS argument_count,
  flatten(list(c.arguments ORDER BY length(c.pattern), c.pattern))
    AS arguments,
  CAST(sum(c.delta) AS BIGINT) AS delta
FROM numbers AS n
JOIN patterns_of_unpaired AS c USING (base_id, candidate_id, pattern)
GROUP BY n.base_id, n.candidate_id, n.base_times, n.candidate_times
