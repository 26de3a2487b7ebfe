-- step: Framework paths without wrappers, and with * for each part that only
--   one side has: transpose(jvp(Model))/jvp(Model)/checkpoint/Dense_0 is
--   Model/Dense_0. JAX repeats the path of a checkpoint before what is in it:
--   Model/trunk/Model/trunk/Dense_0 is Model/trunk/Dense_0.
-- grain: pair, side, framework path
WITH once AS (
  SELECT
    d.pair, d.is_candidate, d.op_name,
    list_filter(d.parts, lambda p, i: i = 1 OR p <> d.parts[i - 1]) AS parts
  FROM (
    SELECT
      n.*, list_filter(
        string_split(regexp_replace(
          regexp_replace(n.op_name, 'p?jit\([^()]*\)', '', 'g'),
          '\w+\(|\)', '', 'g'
        ), '/'),
        lambda p: NOT regexp_full_match(
          p, '|checkpoint|remat\d*|rematted_computation|while|body|cond'
        )
      ) AS parts
    FROM (
      SELECT DISTINCT i.pair, i.is_candidate, f.op_name
      FROM program_instructions AS i
      JOIN forms AS f USING (form_id)
      WHERE f.op_name <> ''
    ) AS n
  ) AS d
),
paths AS MATERIALIZED (
  SELECT
    o.pair, o.is_candidate, o.op_name,
    o.parts[1 + coalesce(list_max(list_filter(
      range(1, 1 + len(o.parts) // 2),
      lambda n: o.parts[1:n] = o.parts[n + 1:2 * n]
    )), 0):] AS parts
  FROM once AS o
),
shared_parts AS (
  SELECT p.pair, p.part
  FROM (
    SELECT DISTINCT pair, is_candidate, unnest(parts) AS part FROM paths
  ) AS p
  GROUP BY p.pair, p.part
  HAVING count(*) = 2
)
SELECT
  p.pair, p.is_candidate, p.op_name,
  string_agg(coalesce(s.part, '*'), '/' ORDER BY p.part_number) AS core
FROM (
  SELECT
    pair, is_candidate, op_name, unnest(parts) AS part,
    generate_subscripts(parts, 1) AS part_number
  FROM paths
) AS p
LEFT JOIN shared_parts AS s USING (pair, part)
GROUP BY p.pair, p.is_candidate, p.op_name
