-- title: Memory outside the buffer assignment
-- question: Which instructions take memory at run time that no dump states?
-- definition: Instructions to which a rule of run_time_rules applies, by the
--   kind of a custom fusion or the target of a custom call; Fourier transforms
--   on GPUs only.
-- grain: module content
-- param module_ids
-- column module_id
-- column run_time_count BIGINT count neutral: Number of such instructions.
-- column caveat VARCHAR text neutral: Sentence that names them.
WITH wanted AS MATERIALIZED (
  -- Unnested, they are taken for a few rows.
  SELECT
    unnest(list_distinct(coalesce(
      $module_ids, (SELECT list(n.module_id) FROM store.snapshots AS n)
    ))) AS module_id
),
made AS MATERIALIZED (
  SELECT i.module_id, i.opcode, i.custom_call_target, i.backend_config
  FROM wanted
  JOIN instructions AS i USING (module_id)
  WHERE i.opcode IN ('custom-call', 'fft')
    OR (i.opcode = 'fusion' AND i.fusion_kind = 'kCustom')
),
-- Only XLA's compilers for GPUs write it.
on_gpu AS (
  SELECT DISTINCT i.module_id
  FROM (SELECT DISTINCT d.module_id FROM made AS d WHERE d.opcode = 'fft')
  JOIN instructions AS i USING (module_id)
  WHERE contains(i.backend_config, '"operation_queue_id"')
),
called AS (
  SELECT
    d.module_id, d.opcode,
    CASE d.opcode
      WHEN 'custom-call' THEN d.custom_call_target
      WHEN 'fft' THEN d.opcode
      ELSE regexp_extract(d.backend_config, '"kind": ?"([^"]+)"', 1)
    END AS target
  FROM made AS d
  WHERE d.opcode <> 'fft'
    OR d.module_id IN (SELECT g.module_id FROM on_gpu AS g)
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
