-- title: Entry parameters of pairs of modules
-- question: Which arguments of two modules correspond to each other?
-- definition: Each parameter once. First by op_name, if it is unique in both
--   modules, because an additional argument renumbers those after it, and so
--   does a part that was put in before others (Block_0, Block_1), which go
--   together by their dimensions; then by all of it but a part that was put
--   in or taken out, or that has a longer name (CheckpointBlock_0 for
--   Block_0), with the shape, if both are unique; then by its end, from the
--   last attribute on (.mu['w']), and the shape, the n-th where both have as
--   many, or all but its element type, if both are unique: another
--   transformation may be around an optimiser, and its moments of another
--   type; then by number, if op_names are equal, one of them is missing, or
--   the dimensions are equal and both modules have as many parameters, as for
--   a renamed argument. Others are new or gone, and have no row.
-- grain: pair of modules, parameter
-- param base_ids BIGINT[] = NULL: Module contents of the base.
-- param candidate_ids BIGINT[] = NULL: Those of the candidate, in the same
--   order; pairs that lack one of both have no row.
-- column base_module_id BIGINT id neutral: Content of the module in the base.
-- column candidate_module_id BIGINT id neutral: Content of the module in the
--   candidate.
-- column base_number INTEGER id neutral: The entry parameter in the base.
-- column candidate_number INTEGER id neutral: The same in the candidate.
-- column base_instruction VARCHAR name neutral: Its instruction in the base.
-- column instruction VARCHAR name neutral: The same in the candidate.
WITH couples AS MATERIALIZED (
  -- Arguments are read inside of macros, where no CTE may have their names.
  SELECT DISTINCT p.base_id, p.own_id
  FROM (
    SELECT unnest($base_ids) AS base_id, unnest($candidate_ids) AS own_id
  ) AS p
  WHERE p.base_id IS NOT NULL
    AND p.own_id IS NOT NULL
),
-- Fixed before it meets the forms: else the instructions of all modules do.
there AS MATERIALIZED (
  SELECT i.module_id, i.name, i.form_id
  FROM (
    SELECT DISTINCT s.module_id, s.entry_computation_id AS computation_id
    FROM (
      -- Unnested, they are taken for a few rows (final_contents).
      SELECT unnest(list_distinct(list(base_id) || list(own_id))) AS module_id
      FROM couples
    )
    JOIN store.snapshots AS s USING (module_id)
  ) AS m
  JOIN store.instructions AS i USING (module_id, computation_id)
),
parameters AS MATERIALIZED (
  SELECT
    i.module_id, i.name, f.parameter_number,
    -- Older releases may name it after an operation that was merged into it.
    CASE
      WHEN regexp_matches(f.op_name, '^p?jit\(') THEN NULL
      ELSE nullif(f.op_name, '')
    END AS argument,
    -- flax.nnx writes .value behind each of its variables.
    regexp_extract(f.op_name, '(\.\w+[^.]*?)(\.value)?$', 1) AS ending,
    regexp_replace(f.shape, '\{[^}]*\}', '', 'g') AS dimensions,
    count(*) OVER (PARTITION BY i.module_id, f.op_name) = 1 AS is_alone,
    count(*) OVER (PARTITION BY i.module_id) AS parameter_count
  FROM there AS i
  JOIN store.instruction_forms AS f USING (form_id)
  WHERE f.opcode = 'parameter'
),
-- Flax numbers parts of a kind in the order of their calls: Block_0, Block_1.
numbered AS MATERIALIZED (
  SELECT
    p.base_id, p.own_id, m.module_id = p.own_id AS is_own, m.parameter_number,
    m.name, regexp_extract(m.argument, '^(.*?[A-Za-z]_)\d+\W', 1) AS head,
    regexp_extract(m.argument, '^.*?[A-Za-z]_(\d+)\W', 1) AS part,
    regexp_replace(m.argument, '^.*?[A-Za-z]_\d+', '') || m.dimensions AS tail
  FROM couples AS p
  JOIN parameters AS m ON m.module_id IN (p.base_id, p.own_id)
  WHERE p.base_id <> p.own_id
    AND m.is_alone
    AND regexp_matches(m.argument, '[A-Za-z]_\d+\W')
),
parts AS MATERIALIZED (
  SELECT
    *, row_number() OVER (
      PARTITION BY base_id, own_id, is_own, head, contents
      ORDER BY CAST(part AS INTEGER)
    ) AS ordinal
  FROM (
    SELECT
      base_id, own_id, is_own, head, part,
      hash(list_sort(list(tail))) AS contents
    FROM numbered
    GROUP BY base_id, own_id, is_own, head, part
  )
),
-- A part that was put in renumbers those after it.
renumbered AS (
  SELECT b.base_id, b.own_id, b.head
  FROM (
    SELECT
      base_id, own_id, head, count_if(is_own) AS own_count,
      count_if(NOT is_own) AS base_count
    FROM parts
    GROUP BY base_id, own_id, head
    HAVING own_count <> base_count
  ) AS b
  JOIN parts AS x USING (base_id, own_id, head)
  LEFT JOIN parts AS y
    ON y.base_id = x.base_id
    AND y.own_id = x.own_id
    AND y.head = x.head
    AND y.is_own <> x.is_own
    AND y.contents = x.contents
    AND y.ordinal = x.ordinal
  WHERE x.is_own = (b.own_count < b.base_count)
  GROUP BY b.base_id, b.own_id, b.head
  -- All parts of the side with fewer are on the other side.
  HAVING count(y.part) = count(*)
    AND bool_or(y.part <> x.part)
),
by_part AS (
  SELECT
    b.base_id, b.own_id, m.parameter_number AS base_number,
    n.parameter_number AS own_number, m.name AS base_name, n.name AS own_name
  FROM renumbered AS r
  JOIN parts AS b USING (base_id, own_id, head)
  JOIN parts AS c USING (base_id, own_id, head, contents, ordinal)
  JOIN numbered AS m
    ON m.base_id = b.base_id
    AND m.own_id = b.own_id
    AND m.head = b.head
    AND m.part = b.part
    AND NOT m.is_own
  JOIN numbered AS n
    ON n.base_id = c.base_id
    AND n.own_id = c.own_id
    AND n.head = c.head
    AND n.part = c.part
    AND n.tail = m.tail
    AND n.is_own
  WHERE NOT b.is_own
    AND c.is_own
),
by_argument AS MATERIALIZED (
  SELECT
    p.base_id, p.own_id, b.parameter_number AS base_number,
    c.parameter_number AS own_number, b.name AS base_name, c.name AS own_name
  FROM couples AS p
  JOIN parameters AS b ON b.module_id = p.base_id
  JOIN parameters AS c
    ON c.module_id = p.own_id
    AND c.argument = b.argument
  ANTI JOIN renumbered AS r
    ON r.base_id = p.base_id
    AND r.own_id = p.own_id
    AND r.head = regexp_extract(b.argument, '^(.*?[A-Za-z]_)\d+\W', 1)
  WHERE b.is_alone
    AND c.is_alone
  UNION ALL
  FROM by_part
),
-- Those without a partner of that name.
unpaired AS MATERIALIZED (
  SELECT s.*
  FROM (
    SELECT p.base_id, p.own_id, FALSE AS is_own, b.*
    FROM couples AS p
    JOIN parameters AS b ON b.module_id = p.base_id
    ANTI JOIN by_argument AS d
      ON d.base_id = p.base_id
      AND d.own_id = p.own_id
      AND d.base_number = b.parameter_number
    UNION ALL
    SELECT p.base_id, p.own_id, TRUE, c.*
    FROM couples AS p
    JOIN parameters AS c ON c.module_id = p.own_id
    ANTI JOIN by_argument AS e
      ON e.base_id = p.base_id
      AND e.own_id = p.own_id
      AND e.own_number = c.parameter_number
  ) AS s
),
tails AS MATERIALIZED (
  SELECT
    base_id, own_id, is_own, tail, dimensions,
    any_value(number) AS number, any_value(name) AS name,
    any_value(head) AS head
  FROM (
    SELECT
      base_id, own_id, is_own, dimensions, parameter_number AS number, name,
      substr(argument, place) AS tail,
      -- Up to a whole word: "ema" does not begin "ema_fast".
      translate(
        regexp_replace(substr(argument, 1, place - 1), '\d+', '', 'g'),
        '[', '.'
      ) || '.' AS head
    FROM (
      SELECT *, unnest(range(2, length(argument))) AS place
      FROM unpaired
    )
    WHERE substr(argument, place, 1) IN ('.', '[')
  )
  GROUP BY base_id, own_id, is_own, tail, dimensions
  HAVING count(*) = 1
),
-- A tail that both have alone, behind what one has less of, numbers apart:
-- .opt_state[1][0].mu.w becomes .opt_state.inner_opt_state[1][0].mu.w.
by_tail AS MATERIALIZED (
  SELECT DISTINCT
    b.base_id, b.own_id, b.number AS base_number, c.number AS own_number,
    b.name AS base_name, c.name AS own_name
  FROM tails AS b
  JOIN tails AS c USING (base_id, own_id, tail, dimensions)
  WHERE NOT b.is_own
    AND c.is_own
    AND (starts_with(b.head, c.head) OR starts_with(c.head, b.head))
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
        FROM unpaired AS u
      )
    )
  )
  GROUP BY base_id, own_id, is_own, path, dimensions
  HAVING count(*) = 1
),
by_insertion AS MATERIALIZED (
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
),
renamed AS MATERIALIZED (
  SELECT u.*
  FROM unpaired AS u
  ANTI JOIN by_insertion AS d
    ON d.base_id = u.base_id
    AND d.own_id = u.own_id
    AND CASE WHEN u.is_own THEN d.own_number ELSE d.base_number END
      = u.parameter_number
),
by_ending AS MATERIALIZED (
  SELECT DISTINCT
    base_id, own_id, unnest(base_side).number AS base_number,
    unnest(own_side).number AS own_number,
    unnest(base_side).name AS base_name, unnest(own_side).name AS own_name
  FROM (
    SELECT
      base_id, own_id,
      list({'number': parameter_number, 'name': name}
        ORDER BY parameter_number) FILTER (WHERE NOT is_own) AS base_side,
      list({'number': parameter_number, 'name': name}
        ORDER BY parameter_number) FILTER (WHERE is_own) AS own_side
    FROM (
      SELECT
        u.* REPLACE (
          CASE
            WHEN t.has_type THEN u.dimensions
            ELSE regexp_replace(u.dimensions, '^\w+', '')
          END AS dimensions
        ), t.has_type
      FROM renamed AS u
      CROSS JOIN (SELECT unnest([TRUE, FALSE]) AS has_type) AS t
    )
    WHERE ending <> ''
    GROUP BY base_id, own_id, ending, dimensions, has_type
    HAVING len(base_side) = len(own_side)
      AND (has_type OR len(own_side) = 1)
  )
),
by_number AS (
  SELECT
    b.base_id, b.own_id, b.parameter_number AS base_number,
    c.parameter_number AS own_number, b.name AS base_name, c.name AS own_name
  FROM renamed AS b
  JOIN renamed AS c USING (base_id, own_id, parameter_number)
  ANTI JOIN by_ending AS d
    ON d.base_id = b.base_id
    AND d.own_id = b.own_id
    AND d.base_number = b.parameter_number
  ANTI JOIN by_ending AS e
    ON e.base_id = c.base_id
    AND e.own_id = c.own_id
    AND e.own_number = c.parameter_number
  WHERE NOT b.is_own
    AND c.is_own
    AND (
      coalesce(b.argument = c.argument, TRUE)
      OR b.dimensions = c.dimensions
      AND b.parameter_count = c.parameter_count
    )
)
SELECT
  m.base_id AS base_module_id, m.own_id AS candidate_module_id,
  m.base_number, m.own_number AS candidate_number,
  m.base_name AS base_instruction, m.own_name AS instruction
FROM (
  FROM by_argument
  UNION ALL
  FROM by_insertion
  UNION ALL
  FROM by_ending
  UNION ALL
  FROM by_number
) AS m
