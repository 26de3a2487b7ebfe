-- step: Temporary arrays that their dimensions give away, outside of loops
--   over parts: logits over a vocabulary, and at pairs of positions all that
--   is computed beside logits, values of all pairs of points, which are rows
--   of one input or of two arguments, scores of every pair of positions, as
--   many as a softmax over such pairs has, or twice as many, of every distance
--   between them, and of these what a loop saves of each layer for the
--   backward pass, differences of every pair of points, where each operand is
--   spread over the points of the other, and gradients of every example. What
--   they are compared with is one row of lists per program: few joins, which
--   are planned fast. part of whole: saved scores go as a whole; NULL where
--   the rule says how much.
-- grain: value, mark
WITH sized AS MATERIALIZED (
  SELECT
    v.module_id, v.value_id, v.name, v.dimensions, v.instruction_id,
    v.element_type = 'pred' AS is_mask, s.value_id IS NOT NULL AS is_saved,
    k.value_id IS NOT NULL AS is_stack,
    list_transform(
      string_split(v.dimensions, ','), lambda x: TRY_CAST(x AS BIGINT)
    ) AS sizes
  FROM arrays AS v
  LEFT JOIN (SELECT DISTINCT module_id, value_id FROM saved_arrays) AS s
    ON s.module_id = v.module_id
    AND s.value_id = v.value_id
  LEFT JOIN kept_stacks AS k
    ON k.module_id = v.module_id
    AND k.value_id = v.value_id
  WHERE v.kind IN ('temp', 'live_out')
    AND (
      v.dimensions LIKE '%,%'
      OR TRY_CAST(v.dimensions AS BIGINT) >= 65536
    )
    AND v.element_type IN ('f32', 'bf16', 'f16', 'f64', 'pred')
    -- Of a loop's own parameters, what it saves alone.
    AND (v.opcode <> 'parameter' OR k.value_id IS NOT NULL)
),
known AS MATERIALIZED (
  SELECT
    k.module_id,
    list(DISTINCT k.sizes) FILTER (WHERE k.is_weight) AS weights,
    list(DISTINCT k.dimensions) FILTER (WHERE k.is_weight)
      AS weight_dimensions,
    list(DISTINCT k.dimensions) FILTER (WHERE len(k.sizes) = 2) AS matrices,
    list(DISTINCT k.dimensions) FILTER (WHERE k.is_argument) AS points,
    list(DISTINCT k.sizes[2]) FILTER (
      WHERE k.is_argument
        AND len(k.sizes) = 2
        AND 8 * k.sizes[1] <= k.sizes[2]
    ) AS clouds,
    list(DISTINCT k.row_count) FILTER (WHERE k.row_count >= 4096) AS rows,
    list(DISTINCT k.dimensions) FILTER (
      WHERE k.name LIKE '%dot_general%'
        OR k.name LIKE '%softmax%'
    ) AS products
  FROM (
    SELECT
      a.module_id, a.dimensions, '' AS name, NOT a.is_input AS is_weight,
      TRUE AS is_argument,
      CASE
        WHEN regexp_matches(a.element_type, '^b?f[0-9]')
          AND regexp_full_match(a.dimensions, '\d+,\d+')
          AND TRY_CAST(split_part(a.dimensions, ',', 1) AS BIGINT)
            >= 8 * TRY_CAST(split_part(a.dimensions, ',', 2) AS BIGINT)
          THEN TRY_CAST(split_part(a.dimensions, ',', 1) AS BIGINT)
      END AS row_count,
      list_sort(list_transform(
        string_split(a.dimensions, ','), lambda x: TRY_CAST(x AS BIGINT)
      )) AS sizes
    FROM arguments AS a
    WHERE a.dimensions LIKE '%,%'
    UNION ALL
    SELECT s.module_id, s.dimensions, s.name, FALSE, FALSE, NULL, s.sizes
    FROM sized AS s
    WHERE NOT s.is_mask
      AND NOT s.is_stack
  ) AS k
  GROUP BY k.module_id
),
-- Where something is reduced: XLA for TPUs computes a sigmoid by an
-- exponential, too, but with nothing to sum.
reduced_places AS (
  SELECT DISTINCT
    module_id, regexp_extract(op_name, '^(.*/)reduce_(max|sum)$', 1) AS place
  FROM scheduled_instructions
  WHERE regexp_matches(op_name, '/reduce_(max|sum)$')
),
-- How many pairs of positions are exponentiated, as by a softmax, and of how
-- many positions.
softmaxes AS MATERIALIZED (
  SELECT
    e.module_id,
    list(DISTINCT (list_product(e.sizes), e.sizes[-1])) AS counts
  FROM (
    SELECT
      i.module_id,
      list_transform(
        string_split(regexp_extract(i.shape, '\[([\d,]*)', 1), ','),
        lambda x: TRY_CAST(x AS DOUBLE)
      ) AS sizes
    FROM scheduled_instructions AS i
    LEFT JOIN reduced_places AS r
      ON r.module_id = i.module_id
      AND r.place = regexp_extract(i.op_name, '^(.*/)exp$', 1)
    WHERE i.opcode = 'exponential'
      AND (
        regexp_matches(i.op_name, '(?i)softmax')
        OR r.place IS NOT NULL
      )
  ) AS e
  WHERE e.sizes[-1] = e.sizes[-2]
  GROUP BY e.module_id
),
-- Last dimensions of what is exponentiated, as logits are over their words.
exponents AS MATERIALIZED (
  SELECT
    i.module_id,
    list(DISTINCT regexp_extract(i.shape, '\[([\d,]*)', 1)) AS dimensions,
    list(DISTINCT regexp_extract(i.shape, '\[([\d,]*)', 1)) FILTER (
      WHERE regexp_matches(i.op_name, 'log_softmax|logsumexp|cross_entropy')
    ) AS of_losses,
    list(DISTINCT TRY_CAST(
      regexp_extract(i.shape, '\[(?:\d+,)*(\d+)\]', 1) AS BIGINT
    )) AS sizes
  FROM scheduled_instructions AS i
  WHERE i.opcode IN ('exponential', 'exponential-minus-one', 'logistic')
  GROUP BY i.module_id
),
subtractions AS MATERIALIZED (
  SELECT n.module_id, list(DISTINCT n.dimensions) AS dimensions
  FROM (
    SELECT
      s.module_id, s.instruction_id,
      any_value(regexp_extract(s.shape, '\[([\d,]*)', 1)) AS dimensions
    FROM scheduled_instructions AS s
    JOIN operands AS e USING (module_id, instruction_id)
    JOIN scheduled_instructions AS a
      ON a.module_id = e.module_id
      AND a.instruction_id = e.operand_id
      AND a.opcode = 'broadcast'
    WHERE s.opcode = 'subtract'
    GROUP BY s.module_id, s.instruction_id
    HAVING count(*) = 2
  ) AS n
  GROUP BY n.module_id
),
-- Gradients of every example: with them goes all else of the examples.
of_examples AS MATERIALIZED (
  SELECT DISTINCT v.module_id, b.batch
  FROM sized AS v
  JOIN known AS k USING (module_id)
  JOIN program_traits AS t USING (module_id)
  JOIN batch_sizes AS b USING (module_id)
  WHERE t.has_backward
    AND NOT v.is_mask
    AND v.sizes[1] = b.batch
    AND list_contains(
      k.weight_dimensions,
      substr(v.dimensions, strpos(v.dimensions, ',') + 1)
    )
    -- Activations beside an embedding of positions are shaped alike.
    AND v.name LIKE '%vmap(%'
),
marked AS (
  SELECT
    v.module_id, v.value_id, v.is_saved OR v.is_stack AS is_saved,
    (len(v.sizes) = 2 OR (len(v.sizes) = 3 AND v.sizes[3] <= 8))
      AND NOT t.is_exact
      AND NOT list_contains(coalesce(k.weights, []), list_sort(v.sizes))
      AND CASE
        WHEN v.sizes[1] = v.sizes[2] THEN v.sizes[1] >= 4096
          AND list_contains(coalesce(k.clouds, []), v.sizes[1])
        -- Of rows of two arguments, or of a device's rows and all it gathers.
        ELSE len(v.sizes) = 2
          AND len(list_filter(
            v.sizes,
            lambda x: list_contains(coalesce(k.rows, []), x)
              OR (
                x % t.partitions = 0
                AND list_contains(coalesce(k.rows, []), x // t.partitions)
              )
          )) = 2
      END AS is_pairs,
    CASE
      WHEN v.is_mask THEN NULL
      WHEN v.sizes[1] = e.batch
        AND v.name LIKE '%vmap(%' THEN 'examples'
      WHEN list_contains(coalesce(k.weights, []), list_sort(v.sizes)) THEN NULL
      -- A matrix of each iteration alone is of an optimal transport, too.
      WHEN len(v.sizes) >= CASE WHEN v.is_stack THEN 4 ELSE 3 END
        AND v.sizes[-1] = v.sizes[-2]
        AND v.sizes[-1] >= 256
        AND (v.is_stack OR list_contains(k.products, v.dimensions))
        AND list_contains(x.counts, (
          list_product(CASE WHEN v.is_stack THEN v.sizes[2:] ELSE v.sizes END),
          v.sizes[-1]
        )) THEN 'scores'
      -- Relative positions of n keys are 2 n - 1, which are padded and moved.
      WHEN len(list_filter(
        x.counts,
        lambda c: c[2] >= 256
          AND (
            list_product(v.sizes) = c[1] // c[2] * (2 * c[2] - 1)
            OR (
              list_product(v.sizes) = 2 * c[1]
              AND (
                len(v.sizes) = 1
                OR list_has_any(v.sizes, [
                  CAST(2 * c[2] AS BIGINT), CAST(2 * c[2] * c[2] AS BIGINT)
                ])
              )
            )
          )
      )) > 0 THEN 'scores'
      WHEN len(v.sizes) = 3
        AND regexp_matches(
          v.name, '/(sub|square|integer_pow|pow|abs|mul|div|neg)$'
        )
        AND list_contains(k.points, v.sizes[1] || ',' || v.sizes[3])
        AND list_contains(k.points, v.sizes[2] || ',' || v.sizes[3])
        AND list_contains(k.matrices, v.sizes[1] || ',' || v.sizes[3])
        AND list_contains(k.matrices, v.sizes[2] || ',' || v.sizes[3])
        AND len(list_filter(
          [v.sizes, [v.sizes[2], v.sizes[1], v.sizes[3]]],
          lambda x: list_contains(k.matrices, x[1] || ',' || x[2])
        )) > 0
        AND len(list_filter(
          [v.sizes, [v.sizes[2], v.sizes[1], v.sizes[3]]],
          lambda x: list_contains(
            d.dimensions, array_to_string(x, ',')
          )
        )) > 0
        THEN 'differences'
      WHEN t.has_backward
        AND c.kind = 'entry'
        AND len(v.sizes) >= 2
        AND v.name NOT LIKE '%one_hot%'
        AND len(list_filter(
          k.weights,
          lambda w: len(w) = 2
            -- Scales of each layer, which a loop reads, are no table of words.
            AND w[1] >= 32
            AND w[2] >= 1024
            AND w[2] >= 8 * w[1]
            -- Words come first or last, and are not the positions.
            AND w[2] IN (v.sizes[1], v.sizes[-1])
            -- No weight has more of anything than words.
            AND len(list_filter(
              k.weights, lambda u: list_contains(u, w[2]) AND u[-1] > w[2]
            )) = 0
            AND list_contains(h.sizes, w[2])
            AND (
              NOT list_contains(v.sizes, w[1])
              OR list_contains(h.dimensions, v.dimensions)
            )
            -- A weight that is gathered, or its whole gradient.
            AND NOT (
              len(v.sizes) = 2
              AND list_product(v.sizes) % list_product(w) = 0
              AND list_product(v.sizes) // list_product(w) <= t.partitions
            )
        )) > 0 THEN 'logits'
      -- Of a smaller vocabulary at pairs of positions, as of two sequences,
      -- with what else is computed there.
      WHEN t.has_backward
        AND c.kind = 'entry'
        AND len(v.sizes) >= 4
        AND len(list_filter(
          h.of_losses,
          lambda d: starts_with(
            d, array_to_string(v.sizes[:-2], ',') || ','
          )
            AND len(string_split(d, ',')) = len(v.sizes)
            AND TRY_CAST(string_split(d, ',')[-1] AS BIGINT) >= 256
        )) > 0 THEN 'logits'
    END AS mark
  FROM sized AS v
  JOIN known AS k USING (module_id)
  LEFT JOIN softmaxes AS x USING (module_id)
  LEFT JOIN exponents AS h USING (module_id)
  JOIN program_traits AS t USING (module_id)
  JOIN scheduled_instructions AS i
    ON i.module_id = v.module_id
    AND i.instruction_id = v.instruction_id
  JOIN computations AS c
    ON c.module_id = i.module_id
    AND c.computation_id = i.computation_id
  LEFT JOIN of_examples AS e ON e.module_id = v.module_id
  LEFT JOIN subtractions AS d ON d.module_id = v.module_id
)
SELECT
  module_id, value_id, mark,
  CASE WHEN is_saved AND mark = 'scores' THEN 1 END AS part,
  CASE WHEN is_saved AND mark = 'scores' THEN 1 END AS whole
FROM marked
WHERE mark IS NOT NULL
  AND NOT (is_pairs AND mark = 'logits')
UNION ALL
SELECT module_id, value_id, 'pairs', NULL, NULL FROM marked WHERE is_pairs
