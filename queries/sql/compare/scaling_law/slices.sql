-- step: Modules that differ in one size alone.
-- grain: subject, memory space, module
SELECT
  s.program AS program_name, s.platform, s.device, s.compiler_version,
  s.subject, s.color AS space_color, s.space_name, s.run_id,
  s.module_number, s.module_id,
  s.axis, s.axis_size, s.other_axes
FROM size_slices() AS s
