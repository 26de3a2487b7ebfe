-- title: Constants in memory
-- question: How much memory do constants take, and which of them are
--   duplicated?
-- definition: Constant allocations of a run, grouped by printed value and
--   shape; a module content counts once for each occurrence. wasted_bytes are
--   the copies beyond the first. Dumps elide constants of more than ten
--   elements ({...}); two of them are equal if their digests in
--   elided_literals are. Without a proto there is no digest, and each counts
--   as distinct.
-- grain: run, literal, shape, memory space
-- leading: space_name, shape, literal, copy_count, constant_bytes,
--   wasted_bytes, example
-- param run
-- param program
-- param color
-- param top
-- column run
-- column color
-- column space_name
-- column shape VARCHAR text neutral: Shape of the constant.
-- column literal VARCHAR text neutral: Its value as printed.
-- column copy_count BIGINT count lower_is_better: Allocations with this value.
-- column module_count BIGINT count neutral: Modules that contain it.
-- column constant_bytes BIGINT bytes lower_is_better: Bytes of all copies.
-- column wasted_bytes BIGINT bytes lower_is_better: Bytes of the copies beyond
--   the first.
-- column example VARCHAR name neutral: program:instruction of the first copy.
WITH constants AS (
  SELECT
    m.run AS run_name, m.color AS space_color, m.space_name, v.shape,
    i.literal, v.allocation_bytes, m.module_id, m.occurrence,
    m.program || ':' || v.instruction AS label,
    CASE
      WHEN i.literal IS NULL OR i.literal LIKE '%...%'
      THEN coalesce(
        e.digest, concat_ws('/', m.module_id, v.allocation_id)
      )
      ELSE ''
    END AS identity
  FROM selected_memory() AS m
  JOIN placed_values() AS v
    USING (module_id, color)
  LEFT JOIN selected_instructions() AS i
    ON i.module_id = v.module_id
    AND i.instruction_id = v.instruction_id
  LEFT JOIN elided_literals AS e
    ON e.module_id = v.module_id
    AND e.instruction_id = v.instruction_id
  WHERE v.kind = 'constant'
)
SELECT
  c.run_name AS run, c.space_color AS color, c.space_name, c.shape, c.literal,
  count(*) AS copy_count,
  count(DISTINCT c.occurrence) AS module_count,
  CAST(sum(c.allocation_bytes) AS BIGINT) AS constant_bytes,
  CAST(sum(c.allocation_bytes) - max(c.allocation_bytes) AS BIGINT)
    AS wasted_bytes,
  min(c.label) AS example
FROM constants AS c
GROUP BY
  c.run_name, c.space_color, c.space_name, c.shape, c.literal, c.identity
ORDER BY constant_bytes DESC, wasted_bytes DESC, c.shape, c.literal, example
LIMIT $top
