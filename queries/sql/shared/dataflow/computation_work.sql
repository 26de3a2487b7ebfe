-- title: Work of computations
-- question: How many floating-point operations does a computation do in dots
--   and convolutions, with everything that it calls?
-- definition: The sum of product_work and of the computations that its
--   instructions call, however deep; of the branches of a conditional the
--   greatest, and the body of a loop once, as in XLA's cost analysis
--   (hlo_cost_analysis.cc). Computations without such work have no row.
-- grain: module content, computation
-- param run
-- param program
-- column module_id
-- column computation_id INTEGER id neutral: The computation.
-- column flop BIGINT flop neutral: Floating-point operations.
WITH RECURSIVE own AS MATERIALIZED (
  SELECT module_id, computation_id, CAST(sum(w.flop) AS HUGEINT) AS flop
  FROM product_work() AS w
  GROUP BY module_id, computation_id
),
calls AS MATERIALIZED (
  SELECT DISTINCT
    c.module_id, i.computation_id AS caller_id, c.instruction_id,
    c.computation_id, f.opcode = 'conditional' AS is_conditional
  FROM (SELECT DISTINCT module_id FROM own) AS m
  JOIN called_computations AS c USING (module_id)
  JOIN store.instructions AS i USING (module_id, instruction_id)
  LEFT JOIN store.instruction_forms AS f USING (form_id)
  WHERE c.computation_id IS NOT NULL
),
-- From what is called to what calls it, again for each of them that grew.
totals USING KEY (module_id, computation_id) AS (
  SELECT module_id, computation_id, flop, 0 AS depth FROM own
  UNION ALL
  SELECT
    s.module_id, s.caller_id AS computation_id,
    sum(s.flop) + coalesce(max(o.flop), 0) AS flop, max(s.depth) + 1 AS depth
  FROM (
    SELECT
      g.module_id, g.caller_id, g.depth, c.instruction_id,
      CASE WHEN c.is_conditional THEN max(k.flop) ELSE sum(k.flop) END AS flop
    FROM (
      SELECT c.module_id, c.caller_id, max(t.depth) AS depth
      FROM totals AS t
      JOIN calls AS c USING (module_id, computation_id)
      WHERE t.depth < 100
      GROUP BY c.module_id, c.caller_id
    ) AS g
    JOIN calls AS c USING (module_id, caller_id)
    JOIN recurring.totals AS k
      ON k.module_id = c.module_id
      AND k.computation_id = c.computation_id
    GROUP BY
      g.module_id, g.caller_id, g.depth, c.instruction_id, c.is_conditional
  ) AS s
  LEFT JOIN own AS o
    ON o.module_id = s.module_id
    AND o.computation_id = s.caller_id
  GROUP BY s.module_id, s.caller_id
)
SELECT
  module_id, computation_id,
  CAST(least(flop, 9223372036854775807) AS BIGINT) AS flop
FROM totals
