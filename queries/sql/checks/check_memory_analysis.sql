-- title: JAX's memory analysis agrees
-- question: Where does Compiled.memory_analysis() differ from the buffer
--   assignment?
-- definition: Sums over the allocations of device memory (every memory space
--   but 5, host memory): argument is the sum of the parameters, alias that of
--   the parameters that are live-out, output that of everything live-out, temp
--   that of the temporaries. On TPU, temp is 0 if the temporaries in HBM are
--   only tables of pointers of tuples, 512 bytes each; otherwise it is at
--   least their sum, because libtpu adds the needs of its code generator, or 0
--   if none is larger than a scalar.
-- grain: fault
-- param run VARCHAR = NULL of runs.name: Only modules of this run; NULL for
--   all.
-- column module_id
-- column place VARCHAR text neutral: Affected part of the module.
-- column expected BIGINT count neutral: Expected value.
-- column found BIGINT count neutral: Value found.
WITH said AS (
  -- Once, however many runs hold the module and say the same.
  SELECT DISTINCT
    m.module_id, a.argument_bytes, a.output_bytes, a.alias_bytes,
    a.temp_bytes, coalesce(m.platform, r.platform) = 'tpu' AS is_tpu
  FROM memory_analysis AS a
  JOIN runs AS r USING (run_id)
  JOIN modules AS m
    ON m.run_id = a.run_id
    AND m.name = a.module_name
    AND starts_with(m.path, regexp_replace(a.path, '[^/]*$', ''))
  WHERE m.has_assignment
    AND r.pruned_at IS NULL
    AND ($run IS NULL OR r.name = $run)
  -- A name that several modules have says nothing of one.
  QUALIFY count(*) OVER (PARTITION BY a.run_id, a.path, a.module_name) = 1
),
-- The smallest piece of HBM is 512 bytes: a scalar, or a tuple's table of
-- addresses. Of scalars, no dump tells which libtpu counts.
array_temps AS (
  SELECT p.module_id, bool_or(p.size_bytes > 512) AS are_large
  FROM allocation_values AS p
  JOIN allocations AS a USING (module_id, allocation_id)
  JOIN "values" AS v USING (module_id, value_id)
  WHERE a.kind = 'temp'
    AND a.color = 0
    AND (p.size_bytes > 512 OR v.shape NOT LIKE '(%')
    AND p.module_id IN (SELECT s.module_id FROM said AS s WHERE s.is_tpu)
  GROUP BY p.module_id
),
summed AS (
  SELECT
    s.*,
    coalesce(sum(a.size_bytes) FILTER (WHERE a.kind = 'parameter'), 0)
      AS arguments,
    coalesce(sum(a.size_bytes) FILTER (WHERE a.is_live_out), 0) AS outputs,
    coalesce(
      sum(a.size_bytes) FILTER (
        WHERE a.kind = 'parameter' AND a.is_live_out
      ), 0
    ) AS aliases,
    coalesce(
      sum(a.size_bytes) FILTER (
        WHERE a.kind = 'temp'
          AND (NOT s.is_tpu OR (a.color = 0 AND t.module_id IS NOT NULL))
      ), 0
    ) AS temps,
    coalesce(bool_or(NOT t.are_large), FALSE) AS may_be_none
  FROM said AS s
  JOIN allocations AS a USING (module_id)
  LEFT JOIN array_temps AS t USING (module_id)
  WHERE a.color <> 5
  GROUP BY ALL
),
pairs AS (
  SELECT
    module_id, 'argument' AS place, argument_bytes AS expected,
    arguments AS found
  FROM summed
  UNION ALL
  SELECT module_id, 'output', output_bytes, outputs FROM summed
  UNION ALL
  SELECT module_id, 'alias', alias_bytes, aliases FROM summed
  UNION ALL
  SELECT
    module_id, 'temp', temp_bytes,
    CASE WHEN temp_bytes < temps AND may_be_none THEN 0 ELSE temps END
  FROM summed
  WHERE NOT (is_tpu AND temps BETWEEN 1 AND temp_bytes)
)
SELECT
  p.module_id, 'bytes of ' || p.place AS place, p.expected,
  CAST(p.found AS BIGINT) AS found
FROM pairs AS p
WHERE p.expected <> p.found
