-- title: Compilations that differ in one size alone
-- question: Which compilations of a program differ in one axis, all others
--   being equal?
-- definition: Rows of size_axes, each with the sizes of the module's other
--   axes. Modules with equal other_axes differ in axis only.
-- grain: subject, memory space, module content, axis
-- param program
-- param series
-- param color
-- param module_ids
-- column program
-- column platform
-- column device VARCHAR name neutral: Chip or GPU architecture.
-- column compiler_version VARCHAR name neutral: XLA release.
-- column subject BIGINT id neutral: Number of the subject.
-- column color
-- column space_name
-- column run_id
-- column module_number
-- column module_id
-- column axis VARCHAR name neutral: Dimensions that change together.
-- column axis_size BIGINT count neutral: Size of the first of these
--   dimensions.
-- column other_axes VARCHAR text neutral: Sizes of the other axes, such as
--   4[1], 5[1] = 128; NULL if there are none.
WITH axes AS MATERIALIZED (
  SELECT
    a.program AS program_name, a.platform, a.device, a.compiler_version,
    a.subject, a.color AS space_color, a.space_name, a.run_id,
    a.module_number, a.module_id, a.axis, a.axis_size
  FROM size_axes() AS a
  WHERE $color IS NULL
    OR a.color = $color
)
SELECT
  a.program_name AS program, a.platform, a.device, a.compiler_version,
  a.subject, a.space_color AS color, a.space_name, a.run_id,
  a.module_number, a.module_id, a.axis, a.axis_size,
  string_agg(o.axis || ' = ' || o.axis_size, '; ' ORDER BY o.axis)
    AS other_axes
FROM axes AS a
LEFT JOIN axes AS o
  ON o.subject = a.subject
  AND o.space_color = a.space_color
  AND o.module_id = a.module_id
  AND o.axis <> a.axis
GROUP BY ALL
