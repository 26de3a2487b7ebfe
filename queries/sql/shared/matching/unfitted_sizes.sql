-- title: Compilations that are in no series of sizes
-- question: Which compilations does no law take into account, and why?
-- definition: Modules with a buffer assignment of programs that were compiled
--   with several shapes, or several times with one, which no group of
--   size_slices with two sizes or more has. Of one program_key only the latest
--   run counts, and of equal operations the largest module.
-- grain: program, run, module number, memory space
-- param program
-- param series
-- param color
-- param module_ids
-- column program
-- column run
-- column module_number
-- column reason VARCHAR text neutral: Why it is in none.
WITH slices AS MATERIALIZED (
  SELECT
    s.*,
    count(DISTINCT s.axis_size) OVER (
      PARTITION BY s.subject, s.color, s.axis, s.other_axes
    ) AS size_count
  FROM size_slices() AS s
),
compiled AS MATERIALIZED (
  SELECT DISTINCT
    m.run_id, m.run AS run_name, m.program AS program_name, m.program_key,
    m.module_number, m.module_id, m.color AS space_color
  FROM module_memory AS m
  JOIN runs AS r USING (run_id)
  WHERE ($program IS NULL OR m.program = $program)
    AND ($series IS NULL OR r.series = $series)
    AND ($color IS NULL OR m.color = $color)
    AND ($module_ids IS NULL OR list_contains($module_ids, m.module_id))
),
several AS (
  SELECT program_name
  FROM compiled
  GROUP BY program_name
  HAVING count(DISTINCT program_key) > 1
)
SELECT
  c.program_name AS program, c.run_name AS run, c.module_number,
  CASE
    WHEN s.module_id IS NOT NULL
      THEN 'it differs from every other size in several dimensions'
    WHEN bool_or(o.program_key IS NOT NULL)
      THEN 'another one with the same shapes counts instead'
    ELSE 'its operations, types or device differ from those of other sizes'
  END AS reason
FROM compiled AS c
SEMI JOIN several AS v ON v.program_name = c.program_name
ANTI JOIN (SELECT * FROM slices WHERE size_count > 1) AS f
  ON f.module_id = c.module_id
  AND f.color = c.space_color
LEFT JOIN (SELECT DISTINCT t.module_id, t.color FROM slices AS t) AS s
  ON s.module_id = c.module_id
  AND s.color = c.space_color
LEFT JOIN (
  SELECT k.program_name, k.program_key, k.space_color
  FROM compiled AS k
  JOIN (SELECT DISTINCT t.module_id, t.color FROM slices AS t) AS u
    ON u.module_id = k.module_id
    AND u.color = k.space_color
) AS o
  ON o.program_name = c.program_name
  AND o.program_key IS NOT DISTINCT FROM c.program_key
  AND o.space_color = c.space_color
GROUP BY
  c.program_name, c.run_name, c.module_number, c.module_id, s.module_id
ORDER BY c.program_name, c.run_name, c.module_number, reason
