-- title: How the inputs of pairs of modules differ
-- question: Which arguments of a program are larger than in the base, which
--   are new or gone, and what do these sizes mean?
-- definition: Arguments are those of paired_parameters. Those that differ are
--   grouped by how: resized, by both sizes of a dimension, which is called
--   what size_names says of any of them; retyped, by element types; repeated,
--   where arguments that differ by a number alone (block_0, block_1) are more
--   or fewer: then the layers are counted, or the optimiser's state if all are
--   of that; new and gone otherwise, apart by what their names say: weights,
--   averages of these, or the optimiser's state. Stacked layers are resized in
--   the first dimension of three arrays or more, and in no other. A first
--   dimension is steps of a loop where loops of the base run as often as its
--   size says, none of the candidate does, and the reverse. Partitions
--   are devices. What people choose comes first: devices, layers, weights,
--   sizes by place of size_names, types, then new and gone.
-- grain: pair of modules, change
-- steps: asked_pairs, asked_contents, arguments, paired_arguments,
--   leading_sizes, loop_limits, resized_arguments, patterns_of_unpaired,
--   repeated_layers
-- param base_ids BIGINT[] = NULL: Module contents of the base.
-- param candidate_ids BIGINT[] = NULL: Those of the candidate, in the same
--   order; pairs that lack one of both have no row.
-- column base_module_id BIGINT id neutral: Content of the module in the base.
-- column candidate_module_id BIGINT id neutral: Content of the module in the
--   candidate.
-- column place BIGINT id neutral: Order of the change among those of its pair.
-- column change VARCHAR name neutral: resized, reshaped, retyped, repeated,
--   new or gone.
-- column meaning VARCHAR name neutral: What differs: batch, layers, devices,
--   loop steps, weights, averaged weights, optimiser state, element type, or
--   the dimension of an argument.
-- column base_size VARCHAR text neutral: How much of the whole array, whatever
--   part of it a device has, or of which type, in the base; NULL for new ones.
-- column candidate_size VARCHAR text neutral: The same in the candidate; NULL
--   where gone.
-- column argument_count BIGINT count neutral: Arguments that it is of.
-- column arguments VARCHAR text neutral: Three of them; of new ones and of
--   those gone the largest.
-- column delta_bytes BIGINT bytes lower_is_better: By how much these arguments
--   grew.
WITH retyped AS (
  SELECT
    base_id, candidate_id, 90, 'retyped', 'element type', base_type,
    candidate_type,
    count(*), list(argument ORDER BY length(argument), candidate_number),
    CAST(sum(delta) AS BIGINT)
  FROM paired_arguments
  WHERE base_type <> candidate_type
  GROUP BY base_id, candidate_id, base_type, candidate_type
),
others AS (
  SELECT
    base_id, candidate_id,
    CASE WHEN state = 'weights' THEN 6 WHEN state IS NULL THEN 95 ELSE 7 END,
    CASE WHEN more > 0 THEN 'new' ELSE 'gone' END,
    coalesce(state, 'arguments'),
    CASE WHEN more = 0 THEN format('{:,}', sum(fewer)) END,
    CASE WHEN more > 0 THEN format('{:,}', sum(more)) END,
    CAST(sum(more + fewer) AS BIGINT),
    flatten(list(arguments ORDER BY most_bytes DESC, pattern)),
    CAST(sum(delta) AS BIGINT)
  FROM patterns_of_unpaired
  WHERE base_times = fewer
    OR NOT is_kept
  GROUP BY base_id, candidate_id, state, more > 0, more = 0
),
devices AS (
  SELECT
    c.base_id, c.candidate_id, 1, 'resized', 'devices',
    format('{:,}', b.num_partitions), format('{:,}', d.num_partitions), 0,
    CAST([] AS VARCHAR[]), 0
  FROM asked_pairs AS c
  JOIN asked_contents AS b ON b.module_id = c.base_id
  JOIN asked_contents AS d ON d.module_id = c.candidate_id
  WHERE b.num_partitions <> d.num_partitions
),
changes AS (
  FROM resized_arguments
  UNION ALL
  FROM retyped
  UNION ALL
  FROM repeated_layers
  UNION ALL
  FROM others
  UNION ALL
  FROM devices
)
SELECT
  c.base_id AS base_module_id, c.candidate_id AS candidate_module_id,
  row_number() OVER (
    PARTITION BY c.base_id, c.candidate_id
    ORDER BY c.place, abs(c.delta) DESC, c.meaning, c.base_size,
    c.candidate_size
  ) AS place,
  c.change, c.meaning, c.base_size, c.candidate_size AS candidate_size,
  CAST(c.argument_count AS BIGINT) AS argument_count,
  array_to_string(c.arguments[:3], ', ') AS arguments,
  c.delta AS delta_bytes
FROM changes AS c
