-- title: Work of dots and convolutions
-- question: How many floating-point operations does an instruction do in dots
--   and convolutions?
-- definition: That of product_work for dots, convolutions and GPU library
--   calls for either. Instructions that call computations have the sum of
--   computation_work, of fusions in fusions, too: a conditional that of its
--   greatest branch, a loop that of its body and condition once. Other
--   instructions have no row. Modules: the last snapshot of every module.
-- grain: module content, instruction
-- param run
-- param program
-- column module_id
-- column instruction_id
-- column flop BIGINT flop neutral: Floating-point operations.
SELECT module_id, instruction_id, flop
FROM product_work()
UNION ALL
SELECT
  c.module_id, c.instruction_id,
  CAST(least(
    CASE WHEN bool_or(f.opcode = 'conditional') THEN max(w.flop)
      ELSE sum(w.flop) END, 9223372036854775807
  ) AS BIGINT)
FROM computation_work() AS w
JOIN called_computations AS c USING (module_id, computation_id)
JOIN store.instructions AS i USING (module_id, instruction_id)
LEFT JOIN store.instruction_forms AS f USING (form_id)
GROUP BY c.module_id, c.instruction_id
