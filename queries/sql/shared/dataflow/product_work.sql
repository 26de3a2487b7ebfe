-- title: Work of single dots and convolutions
-- question: How many floating-point operations does a dot or convolution do?
-- definition: dot: 2 times the result's elements times the product of the left
--   operand's contracting dimensions. convolution: 2 times the result's
--   elements times the kernel's elements per output feature (its dimension o
--   in dim_labels), without products with padding and with the holes of a
--   dilated operand, as XLA counts (hlo_cost_analysis.cc): on TPU, the batch
--   of a dot is a dilated dimension of a convolution. GPU library calls for
--   either (__cublas, __cudnn$conv) count in the same way; other instructions
--   have no row. Modules: the last snapshot of every module.
-- grain: module content, instruction
-- param run
-- param program
-- column module_id
-- column instruction_id
-- column computation_id INTEGER id neutral: Computation that it is in.
-- column flop BIGINT flop neutral: Floating-point operations.
WITH dots AS MATERIALIZED (
  -- Fixed, lest all instructions of a module are paired with one another.
  SELECT
    i.module_id, i.instruction_id, i.computation_id, i.shape, i.attributes,
    i.custom_call_target AS target,
    i.opcode = 'dot'
      OR coalesce(starts_with(i.custom_call_target, '__cublas$'), FALSE)
      AS is_dot,
    CASE WHEN i.opcode = 'dot'
      THEN regexp_extract(
        i.attributes, 'lhs_contracting_dims=\{([0-9,]*)\}', 1
      )
      ELSE replace(regexp_extract(
        i.backend_config, '"lhs_contracting_dimensions":\s*\[([0-9," ]*)\]', 1
      ), '"', '')
    END AS contracting
  FROM final_contents() AS m
  JOIN instructions AS i USING (module_id)
  WHERE i.opcode IN ('dot', 'convolution')
    OR (
      i.opcode = 'custom-call'
      AND regexp_matches(i.custom_call_target, '^__(cublas|cudnn\$conv)')
    )
),
shapes AS (
  -- The parts of a product are what is multiplied, 0 and 1, and the result, 2.
  -- Backwards window and labels are those of the convolution forwards.
  SELECT
    i.module_id, i.instruction_id, o.shape,
    CASE i.target
      WHEN '__cudnn$convBackwardInput' THEN 2 - p.operand_index
      WHEN '__cudnn$convBackwardFilter' THEN 2 * p.operand_index
      ELSE p.operand_index
    END AS part
  FROM dots AS i
  JOIN operands AS p
    ON p.module_id = i.module_id
    AND p.instruction_id = i.instruction_id
  JOIN instructions AS o
    ON o.module_id = p.module_id
    AND o.instruction_id = p.operand_id
  WHERE p.operand_index < 2
  UNION ALL
  SELECT
    module_id, instruction_id, shape,
    CASE target
      WHEN '__cudnn$convBackwardInput' THEN 0
      WHEN '__cudnn$convBackwardFilter' THEN 1
      ELSE 2
    END
  FROM dots
),
-- Of a tuple the first array: of a call the others are workspace and the like.
sized AS (
  SELECT
    module_id, instruction_id, part,
    list_transform(
      string_split(nullif(regexp_extract(shape, '\[([^\]]*)\]', 1), ''), ','),
      lambda x: coalesce(TRY_CAST(x AS BIGINT), 1)
    ) AS sizes
  FROM shapes
),
products AS (
  SELECT
    i.module_id, i.instruction_id, i.computation_id, i.is_dot,
    o.sizes AS result_sizes, l.sizes AS left_sizes, r.sizes AS right_sizes,
    list_transform(
      string_split(nullif(i.contracting, ''), ','),
      lambda x: TRY_CAST(x AS INTEGER)
    ) AS contracting,
    regexp_extract(
      i.attributes, 'dim_labels=([0-9bf?]+)_[0-9io?]+->', 1
    ) AS left_labels,
    regexp_extract(
      i.attributes, 'dim_labels=[0-9bf?]+_([0-9io?]+)->', 1
    ) AS right_labels,
    regexp_extract(
      i.attributes, 'dim_labels=[0-9bf?]+_[0-9io?]+->([0-9bf?]+)', 1
    ) AS result_labels,
    regexp_extract(i.attributes, 'window=\{([^}]*)\}', 1) AS form
  FROM dots AS i
  JOIN sized AS l
    ON l.module_id = i.module_id
    AND l.instruction_id = i.instruction_id
    AND l.part = 0
  JOIN sized AS r
    ON r.module_id = i.module_id
    AND r.instruction_id = i.instruction_id
    AND r.part = 1
  JOIN sized AS o
    ON o.module_id = i.module_id
    AND o.instruction_id = i.instruction_id
    AND o.part = 2
),
spatial AS (
  SELECT
    *,
    unnest(range(
      len(string_split(regexp_extract(form, 'size=([0-9x]+)', 1), 'x'))
    )) AS place
  FROM products
  WHERE form <> ''
),
windows AS (
  SELECT
    module_id, instruction_id,
    left_sizes[strpos(left_labels, CAST(place AS VARCHAR))] AS left_size,
    right_sizes[strpos(right_labels, CAST(place AS VARCHAR))] AS right_size,
    result_sizes[strpos(result_labels, CAST(place AS VARCHAR))]
      AS result_size,
    coalesce(TRY_CAST(split_part(
      regexp_extract(form, 'stride=([0-9x]+)', 1), 'x', place + 1
    ) AS BIGINT), 1) AS stride,
    coalesce(TRY_CAST(split_part(split_part(
      regexp_extract(form, 'pad=([-0-9_x]+)', 1), 'x', place + 1
    ), '_', 1) AS BIGINT), 0) AS padding,
    coalesce(TRY_CAST(split_part(
      regexp_extract(form, 'lhs_dilate=([0-9x]+)', 1), 'x', place + 1
    ) AS BIGINT), 1) AS left_dilation,
    coalesce(TRY_CAST(split_part(
      regexp_extract(form, 'rhs_dilate=([0-9x]+)', 1), 'x', place + 1
    ) AS BIGINT), 1) AS right_dilation
  FROM spatial
),
-- Each place of the kernel meets an element of the left operand at every place
-- x of the result where stride * x + shift lies on one: from first_x to
-- last_x, where x has one of the remainders. Once for all windows alike.
places AS (
  SELECT
    *,
    CASE
      WHEN left_dilation = 1 THEN [0]
      WHEN stride % left_dilation = 1
        THEN [(left_dilation - shift % left_dilation) % left_dilation]
      WHEN stride % left_dilation = left_dilation - 1
        THEN [(shift % left_dilation + left_dilation) % left_dilation]
      ELSE list_filter(
        range(left_dilation),
        lambda x: (stride * x + shift) % left_dilation = 0
      )
    END AS remainders,
    CASE WHEN shift < 0 THEN (stride - 1 - shift) // stride ELSE 0 END
      AS first_x,
    least(result_size - 1, CASE
      WHEN (left_size - 1) * left_dilation < shift THEN -1
      ELSE ((left_size - 1) * left_dilation - shift) // stride
    END) AS last_x
  FROM (
    SELECT
      *, unnest(range(right_size)) * right_dilation - padding AS shift
    FROM (
      SELECT DISTINCT
        left_size, right_size, result_size, stride, padding, left_dilation,
        right_dilation
      FROM windows
    )
  )
),
counted AS (
  SELECT
    left_size, right_size, result_size, stride, padding, left_dilation,
    right_dilation,
    coalesce(sum(list_sum(list_transform(
      remainders,
      lambda x: (last_x - x + left_dilation) // left_dilation
        - (first_x - x + left_dilation - 1) // left_dilation
    ))) FILTER (WHERE first_x <= last_x), 0) AS met_count
  FROM places
  GROUP BY
    left_size, right_size, result_size, stride, padding, left_dilation,
    right_dilation
),
met AS (
  SELECT
    w.module_id, w.instruction_id, list(c.right_size) AS right_sizes,
    list(c.result_size) AS result_sizes, list(c.met_count) AS met_counts
  FROM windows AS w
  JOIN counted AS c USING (
    left_size, right_size, result_size, stride, padding, left_dilation,
    right_dilation
  )
  GROUP BY w.module_id, w.instruction_id
),
work AS (
  SELECT
    p.module_id, p.instruction_id, p.computation_id,
    2 * coalesce(list_reduce(
      p.result_sizes, lambda x, y: x * y, CAST(1 AS HUGEINT)
    ), 1)
    // coalesce(list_reduce(
      m.result_sizes, lambda x, y: x * y, CAST(1 AS HUGEINT)
    ), 1)
    * CASE
      WHEN p.is_dot THEN coalesce(list_reduce(
        list_transform(p.contracting, lambda place: p.left_sizes[place + 1]),
        lambda x, y: x * y, CAST(1 AS HUGEINT)
      ), 1)
      ELSE coalesce(list_reduce(
        p.right_sizes, lambda x, y: x * y, CAST(1 AS HUGEINT)
      ), 1)
      // coalesce(p.right_sizes[strpos(p.right_labels, 'o')], 1)
      // coalesce(list_reduce(
        m.right_sizes, lambda x, y: x * y, CAST(1 AS HUGEINT)
      ), 1)
    END
    * coalesce(list_reduce(
      m.met_counts, lambda x, y: x * y, CAST(1 AS HUGEINT)
    ), 1) AS flop
  FROM products AS p
  LEFT JOIN met AS m USING (module_id, instruction_id)
)
SELECT
  module_id, instruction_id, computation_id,
  CAST(least(flop, 9223372036854775807) AS BIGINT) AS flop
FROM work
