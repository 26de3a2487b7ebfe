-- title: How the inputs of pairs of modules differ
-- question: Which arguments of a program are larger than in the base, which
--   are new or gone, and what do these sizes mean?
-- definition: Arguments are those of paired_parameters. Those that differ are
--   grouped by how: resized, by both sizes of a dimension, which is called
--   what size_names says of any of them; retyped, by element types; repeated,
--   where arguments that differ by a number alone (block_0, block_1) are more
--   or fewer: then the layers are counted; new and gone otherwise, those of
--   the optimiser apart. Stacked layers are resized in the first dimension of
--   three arrays or more, and in no other. Partitions are devices. What people
--   choose comes first: devices, layers, sizes by place of size_names, types,
--   then new and gone.
-- grain: pair of modules, change
-- param base_ids BIGINT[] = NULL: Module contents of the base.
-- param candidate_ids BIGINT[] = NULL: Those of the candidate, in the same
--   order; pairs that lack one of both have no row.
-- column base_module_id BIGINT id neutral: Content of the module in the base.
-- column candidate_module_id BIGINT id neutral: Content of the module in the
--   candidate.
-- column place BIGINT id neutral: Order of the change among those of its pair.
-- column change VARCHAR name neutral: resized, retyped, repeated, new or gone.
-- column meaning VARCHAR name neutral: What differs: batch, layers, devices,
--   optimiser state, element type, or the dimension of an argument.
-- column base_size VARCHAR text neutral: How much, or of which type, in the
--   base; NULL for new ones.
-- column candidate_size VARCHAR text neutral: The same in the candidate; NULL
--   where gone.
-- column argument_count BIGINT count neutral: Arguments that it is of.
-- column arguments VARCHAR text neutral: Three of them; of new ones and of
--   those gone the largest.
-- column delta_bytes BIGINT bytes lower_is_better: By how much these arguments
--   grew.
WITH couples AS MATERIALIZED (
  -- Arguments are read inside of macros, where no CTE may have their names.
  SELECT DISTINCT p.base_id, p.own_id
  FROM (
    SELECT unnest($base_ids) AS base_id, unnest($candidate_ids) AS own_id
  ) AS p
  WHERE p.base_id IS NOT NULL
    AND p.own_id IS NOT NULL
),
contents AS MATERIALIZED (
  -- A content with other source lines is another snapshot.
  SELECT DISTINCT s.module_id, s.entry_computation_id AS computation_id,
    s.num_partitions
  FROM (
    -- Unnested, they are taken for a few rows (final_contents).
    SELECT unnest(list_distinct(list(base_id) || list(own_id))) AS module_id
    FROM couples
  )
  JOIN store.snapshots AS s USING (module_id)
),
-- Fixed before it meets the forms: else the instructions of all modules do.
there AS MATERIALIZED (
  SELECT i.module_id, i.form_id
  FROM contents AS m
  JOIN store.instructions AS i USING (module_id, computation_id)
),
arguments AS MATERIALIZED (
  SELECT
    i.module_id, f.parameter_number AS number,
    coalesce(
      replace(nullif(f.op_name, ''), '\''', ''''),
      'parameter ' || f.parameter_number
    ) AS argument,
    regexp_extract(f.shape, '^\w+') AS element_type, f.logical_bytes,
    list_transform(
      regexp_extract_all(
        regexp_extract(f.shape, '\[([^\]]*)\]', 1), '\d+'
      ), lambda x: CAST(x AS BIGINT)
    ) AS sizes
  FROM there AS i
  JOIN store.instruction_forms AS f USING (form_id)
  WHERE f.opcode = 'parameter'
),
paired AS MATERIALIZED (
  SELECT
    p.base_module_id AS base_id, p.candidate_module_id AS own_id,
    p.base_number, p.candidate_number AS own_number, b.argument,
    b.element_type AS base_type, c.element_type AS own_type,
    b.sizes AS base_sizes, c.sizes AS own_sizes,
    coalesce(c.logical_bytes - b.logical_bytes, 0) AS delta
  FROM paired_parameters(
    base_ids := (
      SELECT list(o.base_id ORDER BY o.base_id, o.own_id) FROM couples AS o
    ),
    candidate_ids := (
      SELECT list(o.own_id ORDER BY o.base_id, o.own_id) FROM couples AS o
    )
  ) AS p
  JOIN arguments AS b
    ON b.module_id = p.base_module_id
    AND b.number = p.base_number
  JOIN arguments AS c
    ON c.module_id = p.candidate_module_id
    AND c.number = p.candidate_number
),
dimensions AS (
  SELECT
    d.*, d.base_sizes[d.dimension] AS base_size,
    d.own_sizes[d.dimension] AS own_size
  FROM (
    SELECT
      p.*, unnest(range(1, len(p.base_sizes) + 1)) AS dimension
    FROM paired AS p
    WHERE len(p.base_sizes) = len(p.own_sizes)
  ) AS d
  WHERE d.base_sizes[d.dimension] <> d.own_sizes[d.dimension]
),
named AS (
  SELECT
    d.*, n.place AS name_place, n.meaning AS size_meaning,
    d.dimension = 1
    AND len(d.base_sizes) >= 2
    AND coalesce(n.meaning, '') <> 'batch' AS is_stackable
  FROM dimensions AS d
  LEFT JOIN LATERAL (
    SELECT s.place, s.meaning
    FROM size_names() AS s
    WHERE regexp_matches(lower(d.argument), s.words)
      AND regexp_full_match(d.base_type, s.types)
      AND CASE s.dimension
        WHEN 'first' THEN d.dimension = 1
        WHEN 'second' THEN d.dimension = 2
        WHEN 'later' THEN d.dimension > 2
        WHEN 'largest'
          THEN d.base_size = list_max(d.base_sizes)
          AND d.own_size = list_max(d.own_sizes)
        ELSE TRUE
      END
    ORDER BY s.place
    LIMIT 1
  ) AS n ON TRUE
),
resized AS (
  SELECT
    base_id, own_id,
    CASE
      WHEN bool_and(is_stackable) AND count(*) >= 3 THEN 5
      ELSE coalesce(min(name_place), 80)
    END AS place,
    'resized' AS change,
    CASE
      WHEN bool_and(is_stackable) AND count(*) >= 3 THEN 'layers'
      ELSE coalesce(
        arg_min(size_meaning, name_place),
        min(argument || '[' || (dimension - 1) || ']')
      )
    END AS meaning,
    format('{:,}', base_size) AS base_size,
    format('{:,}', own_size) AS own_size,
    count(DISTINCT own_number) AS argument_count,
    list_transform(
      list_sort(list(DISTINCT struct_pack(
        width := length(argument), argument := argument
      ))), lambda x: x.argument
    ) AS arguments,
    CAST(sum(delta) AS BIGINT) AS delta
  FROM named
  GROUP BY base_id, own_id, base_size, own_size
),
retyped AS (
  SELECT
    base_id, own_id, 90, 'retyped', 'element type', base_type, own_type,
    count(*), list(argument ORDER BY length(argument), own_number),
    CAST(sum(delta) AS BIGINT)
  FROM paired
  WHERE base_type <> own_type
  GROUP BY base_id, own_id, base_type, own_type
),
alone AS (
  SELECT
    c.base_id, c.own_id, s.is_own, a.argument, a.number, a.logical_bytes,
    regexp_replace(a.argument, '\d+', '*', 'g') AS pattern,
    s.is_own AS is_new,
    regexp_matches(
      lower(a.argument),
      'opt_state|optimi[sz]er|\b(mu|nu|trace|momentum|ema)\b'
    ) AS is_state
  FROM couples AS c
  CROSS JOIN (SELECT unnest([FALSE, TRUE]) AS is_own) AS s
  JOIN arguments AS a
    ON a.module_id = CASE WHEN s.is_own THEN c.own_id ELSE c.base_id END
  ANTI JOIN paired AS p
    ON p.base_id = c.base_id
    AND p.own_id = c.own_id
    AND CASE WHEN s.is_own THEN p.own_number ELSE p.base_number END = a.number
),
patterns AS (
  SELECT
    a.base_id, a.own_id, a.pattern, a.is_state,
    count_if(NOT a.is_own) AS fewer, count_if(a.is_own) AS more,
    list(a.argument ORDER BY a.logical_bytes DESC, a.number) AS arguments,
    max(a.logical_bytes) AS most_bytes,
    sum(CASE WHEN a.is_own THEN 1 ELSE -1 END * a.logical_bytes) AS delta
  FROM alone AS a
  GROUP BY a.base_id, a.own_id, a.pattern, a.is_state
),
counted AS (
  SELECT
    p.*,
    (
      SELECT count(*)
      FROM arguments AS a
      WHERE a.module_id = p.base_id
        AND regexp_replace(a.argument, '\d+', '*', 'g') = p.pattern
    ) AS base_times,
    EXISTS (
      SELECT 1
      FROM arguments AS a
      WHERE a.module_id = p.own_id
        AND regexp_replace(a.argument, '\d+', '*', 'g') = p.pattern
    ) AS is_kept
  FROM patterns AS p
),
-- How many numbers stand at each place of a pattern: 2 of block_0 and block_1.
numbers AS (
  SELECT
    c.base_id, c.own_id, c.pattern, n.nth,
    count(DISTINCT n.value) FILTER (WHERE a.module_id = c.base_id)
      AS base_times,
    count(DISTINCT n.value) FILTER (WHERE a.module_id = c.own_id) AS own_times
  FROM counted AS c
  JOIN arguments AS a
    ON a.module_id IN (c.base_id, c.own_id)
    AND regexp_replace(a.argument, '\d+', '*', 'g') = c.pattern,
  LATERAL (
    SELECT
      unnest(regexp_extract_all(a.argument, '\d+')) AS value,
      generate_subscripts(regexp_extract_all(a.argument, '\d+'), 1) AS nth
  ) AS n
  WHERE c.base_times > c.fewer
    AND c.more <> c.fewer
    AND c.is_kept
  GROUP BY c.base_id, c.own_id, c.pattern, n.nth
  HAVING base_times <> own_times
),
repeated AS (
  SELECT
    n.base_id, n.own_id, 5, 'repeated', 'layers',
    format('{:,}', n.base_times), format('{:,}', n.own_times),
    sum(c.more + c.fewer),
    flatten(list(c.arguments ORDER BY length(c.pattern), c.pattern)),
    CAST(sum(c.delta) AS BIGINT)
  FROM numbers AS n
  JOIN counted AS c USING (base_id, own_id, pattern)
  GROUP BY n.base_id, n.own_id, n.base_times, n.own_times
),
others AS (
  SELECT
    base_id, own_id, CASE WHEN is_state THEN 6 ELSE 95 END,
    CASE WHEN more > 0 THEN 'new' ELSE 'gone' END,
    CASE WHEN is_state THEN 'optimiser state' ELSE 'arguments' END,
    CASE WHEN more = 0 THEN format('{:,}', sum(fewer)) END,
    CASE WHEN more > 0 THEN format('{:,}', sum(more)) END,
    CAST(sum(more + fewer) AS BIGINT),
    flatten(list(arguments ORDER BY most_bytes DESC, pattern)),
    CAST(sum(delta) AS BIGINT)
  FROM counted
  WHERE base_times = fewer
    OR NOT is_kept
  GROUP BY base_id, own_id, is_state, more > 0, more = 0
),
devices AS (
  SELECT
    c.base_id, c.own_id, 1, 'resized', 'devices',
    format('{:,}', b.num_partitions), format('{:,}', d.num_partitions), 0,
    CAST([] AS VARCHAR[]), 0
  FROM couples AS c
  JOIN contents AS b ON b.module_id = c.base_id
  JOIN contents AS d ON d.module_id = c.own_id
  WHERE b.num_partitions <> d.num_partitions
),
changes AS (
  FROM resized
  UNION ALL
  FROM retyped
  UNION ALL
  FROM repeated
  UNION ALL
  FROM others
  UNION ALL
  FROM devices
)
SELECT
  c.base_id AS base_module_id, c.own_id AS candidate_module_id,
  row_number() OVER (
    PARTITION BY c.base_id, c.own_id
    ORDER BY c.place, abs(c.delta) DESC, c.meaning, c.base_size, c.own_size
  ) AS place,
  c.change, c.meaning, c.base_size, c.own_size AS candidate_size,
  CAST(c.argument_count AS BIGINT) AS argument_count,
  array_to_string(c.arguments[:3], ', ') AS arguments,
  c.delta AS delta_bytes
FROM changes AS c
