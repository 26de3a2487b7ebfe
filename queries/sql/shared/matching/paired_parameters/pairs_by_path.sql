-- step: Of these, what is called alike but for one part of the path: one that
--   was put in or taken out, whatever the element type, or that has a longer
--   name.
-- grain: pair, parameter
WITH
-- An argument that is now a part of another, as state['params']['w'], and of
-- no other, as ema['params']['w'].
contained AS MATERIALIZED (
  SELECT
    u.*, regexp_replace(u.argument, '^\w+(\.|\['')(\w+)(''\])?', '\2')
      AS inner_argument
  FROM unpaired_parameters AS u
),
by_container AS MATERIALIZED (
  SELECT
    b.base_id, b.own_id, b.parameter_number AS base_number,
    c.parameter_number AS own_number, b.name AS base_name, c.name AS own_name
  FROM contained AS b
  JOIN contained AS c USING (base_id, own_id, sizes)
  WHERE NOT b.is_own
    AND c.is_own
    AND b.is_alone
    AND c.is_alone
    AND (b.argument = c.inner_argument OR c.argument = b.inner_argument)
  QUALIFY count(*) OVER (
    PARTITION BY b.base_id, b.own_id, b.parameter_number
  ) = 1
  AND count(*) OVER (
    PARTITION BY b.base_id, b.own_id, c.parameter_number
  ) = 1
),
left_parameters AS MATERIALIZED (
  SELECT u.*
  FROM unpaired_parameters AS u
  ANTI JOIN by_container AS d
    ON d.base_id = u.base_id
    AND d.own_id = u.own_id
    AND CASE WHEN u.is_own THEN d.own_number ELSE d.base_number END
      = u.parameter_number
),
tails AS MATERIALIZED (
  SELECT
    base_id, own_id, is_own, tail, dimensions, has_type,
    any_value(number) AS number, any_value(name) AS name,
    any_value(head) AS head
  FROM (
    SELECT
      base_id, own_id, is_own, dimensions, has_type,
      parameter_number AS number, name, substr(argument, place) AS tail,
      -- Up to a whole word: "ema" does not begin "ema_fast".
      translate(
        regexp_replace(substr(argument, 1, place - 1), '\d+', '', 'g'),
        '[', '.'
      ) || '.' AS head
    FROM (
      SELECT
        u.* REPLACE (
          CASE WHEN t.has_type THEN u.dimensions ELSE u.sizes END AS dimensions
        ), t.has_type,
        unnest(range(2, length(u.argument))) AS place
      FROM left_parameters AS u
      CROSS JOIN (SELECT unnest([TRUE, FALSE]) AS has_type) AS t
    )
    WHERE substr(argument, place, 1) IN ('.', '[')
  )
  GROUP BY base_id, own_id, is_own, tail, dimensions, has_type
  HAVING count(*) = 1
),
-- A tail that both have alone, behind what one has less of, numbers apart:
-- .opt_state[1][0].mu.w becomes .opt_state.inner_opt_state[1][0].mu.w. One of
-- another type goes with what no other of its type goes with.
tails_of_both AS MATERIALIZED (
  SELECT DISTINCT
    b.base_id, b.own_id, b.number AS base_number, c.number AS own_number,
    b.name AS base_name, c.name AS own_name, b.has_type
  FROM tails AS b
  JOIN tails AS c USING (base_id, own_id, tail, dimensions, has_type)
  WHERE NOT b.is_own
    AND c.is_own
    AND (starts_with(b.head, c.head) OR starts_with(c.head, b.head))
),
by_tail AS MATERIALIZED (
  SELECT t.* EXCLUDE (has_type)
  FROM tails_of_both AS t
  WHERE t.has_type
  UNION ALL
  SELECT t.* EXCLUDE (has_type)
  FROM tails_of_both AS t
  ANTI JOIN tails_of_both AS d
    ON d.base_id = t.base_id
    AND d.own_id = t.own_id
    AND d.has_type
    AND d.base_number = t.base_number
  ANTI JOIN tails_of_both AS e
    ON e.base_id = t.base_id
    AND e.own_id = t.own_id
    AND e.has_type
    AND e.own_number = t.own_number
  WHERE NOT t.has_type
),
-- One part of the path has a longer name: nn.remat puts Checkpoint before it.
words AS MATERIALIZED (
  SELECT
    base_id, own_id, is_own, path, dimensions, any_value(number) AS number,
    any_value(name) AS name, any_value(word) AS word
  FROM (
    SELECT
      base_id, own_id, is_own, dimensions, parameter_number AS number, name,
      lower(regexp_replace(parts[place], '\W|_?\d+', '', 'g')) AS word,
      list_transform(parts, lambda x, i:
        CASE WHEN i = place THEN regexp_extract(x, '\d*\W*$') ELSE x END
      ) AS path
    FROM (
      SELECT *, unnest(range(1, len(parts) + 1)) AS place
      FROM (
        SELECT u.*, string_split_regex(u.argument, '[.\[]') AS parts
        FROM left_parameters AS u
      )
    )
  )
  GROUP BY base_id, own_id, is_own, path, dimensions
  HAVING count(*) = 1
)
FROM by_container
UNION ALL
FROM by_tail
UNION
SELECT
  b.base_id, b.own_id, b.number AS base_number, c.number AS own_number,
  b.name AS base_name, c.name AS own_name
FROM words AS b
JOIN words AS c USING (base_id, own_id, path, dimensions)
ANTI JOIN by_tail AS d
  ON d.base_id = b.base_id
  AND d.own_id = b.own_id
  AND d.base_number = b.number
ANTI JOIN by_tail AS e
  ON e.base_id = c.base_id
  AND e.own_id = c.own_id
  AND e.own_number = c.number
WHERE NOT b.is_own
  AND c.is_own
  AND least(length(b.word), length(c.word)) >= 3
  AND (ends_with(b.word, c.word) OR ends_with(c.word, b.word))
