-- title: Work of dots and convolutions
-- question: How many floating-point operations does an instruction do in dots
--   and convolutions?
-- definition: dot: 2 times the result's elements times the product of the left
--   operand's contracting dimensions. convolution: 2 times the result's
--   elements times the kernel's elements per output feature (its dimension o
--   in dim_labels). A fusion or call has the sum of the computations it calls
--   directly; all else has no row. Of the last snapshot of every module.
-- grain: module content, instruction
-- needs: final_modules, instructions, operands, called_computations
-- param run
-- param program
-- column module_id
-- column instruction_id
-- column flop BIGINT flop neutral: Floating-point operations.
WITH dots AS MATERIALIZED (
  -- Fixed, lest all instructions of a module are paired with one another.
  SELECT
    i.module_id, i.instruction_id, i.computation_id, i.opcode, i.shape,
    i.attributes
  FROM (
    SELECT DISTINCT module_id
      FROM final_modules(run := $run, program := $program)
  ) AS m
  JOIN instructions AS i USING (module_id)
  WHERE i.opcode IN ('dot', 'convolution')
),
products AS (
  SELECT
    i.module_id, i.instruction_id, i.computation_id, i.opcode,
    list_reduce(
      list_transform(
        string_split(nullif(regexp_extract(i.shape, '\[([^\]]*)\]', 1), ''),
          ','),
        lambda x: coalesce(TRY_CAST(x AS BIGINT), 1)
      ),
      lambda x, y: x * y, CAST(1 AS BIGINT)
    ) AS result_elements,
    list_transform(
      string_split(nullif(regexp_extract(o.shape, '\[([^\]]*)\]', 1), ''),
        ','),
      lambda x: coalesce(TRY_CAST(x AS BIGINT), 1)
    ) AS operand_sizes,
    list_transform(
      string_split(nullif(regexp_extract(
        i.attributes, 'lhs_contracting_dims=\{([0-9,]*)\}', 1
      ), ''), ','),
      lambda x: TRY_CAST(x AS INTEGER)
    ) AS contracting,
    strpos(
      regexp_extract(i.attributes, 'dim_labels=[0-9bf?]+_([0-9io?]+)->', 1),
      'o'
    ) AS output_place
  FROM dots AS i
  JOIN operands AS p
    ON p.module_id = i.module_id
    AND p.instruction_id = i.instruction_id
    AND p.operand_index = CASE i.opcode WHEN 'dot' THEN 0 ELSE 1 END
  JOIN instructions AS o
    ON o.module_id = p.module_id
    AND o.instruction_id = p.operand_id
),
work AS (
  SELECT
    module_id, instruction_id, computation_id,
    CASE opcode
      WHEN 'dot' THEN 2 * coalesce(result_elements, 1) * coalesce(list_reduce(
        list_transform(contracting, lambda place: operand_sizes[place + 1]),
        lambda x, y: x * y, CAST(1 AS BIGINT)
      ), 1)
      ELSE 2 * coalesce(result_elements, 1) * coalesce(list_reduce(
        operand_sizes, lambda x, y: x * y, CAST(1 AS BIGINT)
      ), 1) // coalesce(operand_sizes[output_place], 1)
    END AS flop
  FROM products
)
SELECT module_id, instruction_id, CAST(flop AS BIGINT) AS flop
FROM work
UNION ALL
SELECT c.module_id, c.instruction_id, CAST(sum(w.flop) AS BIGINT)
FROM work AS w
JOIN called_computations AS c USING (module_id, computation_id)
WHERE c.role IN ('calls', 'to_apply')
GROUP BY c.module_id, c.instruction_id
