-- title: Memory outside the buffer assignment
-- question: Which instructions take memory at run time that no dump states?
-- definition: Instructions to which a rule of run_time_rules applies, by the
--   kind of a custom fusion or the target of a custom call; Fourier transforms
--   on GPUs only.
-- grain: module content
-- column module_id
-- column run_time_count BIGINT count neutral: Number of such instructions.
-- column caveat VARCHAR text neutral: Sentence that names them.
WITH called AS (
  SELECT
    i.module_id, i.opcode,
    CASE
      WHEN i.opcode = 'custom-call' THEN i.custom_call_target
      ELSE regexp_extract(i.backend_config, '"kind": ?"([^"]+)"', 1)
    END AS target
  FROM instructions AS i
  WHERE i.opcode = 'custom-call'
    OR (i.opcode = 'fusion' AND i.fusion_kind = 'kCustom')
  UNION ALL
  SELECT i.module_id, i.opcode, i.opcode
  FROM instructions AS i
  WHERE i.opcode = 'fft'
    -- Only XLA's compilers for GPUs write it.
    AND i.module_id IN (
      SELECT g.module_id
      FROM instructions AS g
      WHERE contains(g.backend_config, '"operation_queue_id"')
    )
),
-- Each target once: DuckDB compiles a pattern that is no constant per row.
targets AS (
  SELECT t.opcode, t.target, min(r.what) AS what
  FROM (SELECT DISTINCT c.opcode, c.target FROM called AS c) AS t
  JOIN run_time_rules() AS r
    ON r.opcode = t.opcode
    AND regexp_matches(t.target, r.pattern)
  GROUP BY t.opcode, t.target
),
counted AS (
  SELECT
    c.module_id, trim(c.target, '_') AS target, any_value(t.what) AS what,
    count(*) AS target_count
  FROM called AS c
  JOIN targets AS t USING (opcode, target)
  GROUP BY c.module_id, c.target
)
SELECT
  n.module_id, CAST(sum(n.target_count) AS BIGINT) AS run_time_count,
  'working memory of '
    || string_agg(
      n.target || ' (' || n.what || ', ' || n.target_count
        || CASE n.target_count WHEN 1 THEN ' call)' ELSE ' calls)' END, ', '
      ORDER BY n.target_count DESC, n.target
    )
    || ', whose size no dump states, is not included' AS caveat
FROM counted AS n
GROUP BY n.module_id
