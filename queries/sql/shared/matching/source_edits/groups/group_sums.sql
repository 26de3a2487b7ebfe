-- step: What the operations of a group are together: lines, the first place,
--   bytes, and the calls at which a loop stacks.
-- grain: pair, file, function
SELECT
  pair, source_file, g.function_name, min(base_line) AS base_line,
  min(candidate_line) AS candidate_line,
  any_value(inner_call) AS inner_call,
  arg_max(
    struct_pack(
      file_name := n.file_name, function_name := n.function_name,
      line := n.line
    ), (size_bytes, -instruction_id)
  ) FILTER (
    WHERE NOT is_candidate AND starts_with(operation, 'dynamic_update')
  ) AS base_stack_call,
  arg_max(
    struct_pack(
      file_name := n.file_name, function_name := n.function_name,
      line := n.line
    ), (size_bytes, -instruction_id)
  ) FILTER (
    WHERE is_candidate AND starts_with(operation, 'dynamic_update')
  ) AS candidate_stack_call,
  -- What a loop stacks that does more than that.
  arg_max(shape, (size_bytes, -instruction_id)) FILTER (
    WHERE is_candidate AND is_stacked
  ) AS stack_shape,
  count(*) AS operation_count,
  -- A filled array has the shape of what it is for.
  coalesce(
    bool_and(opcode IN ('broadcast', 'iota')) FILTER (WHERE is_start), FALSE
  ) AS is_filled,
  -- That of the candidate where it has any.
  coalesce(
    min(row(e.place, instruction_id))
      FILTER (WHERE is_start AND is_candidate),
    min(row(e.place, instruction_id))
      FILTER (WHERE is_start)
  ) AS first_place,
  min(row(e.place, instruction_id)) FILTER (
    WHERE is_start AND NOT is_candidate AND opcode = 'convert'
  ) AS first_lost_place,
  sum(CASE WHEN is_candidate THEN size_bytes ELSE -size_bytes END)
    AS delta_bytes,
  arg_min(
    coalesce(nullif(core, '*'), operation), (instruction_id, is_candidate)
  ) FILTER (WHERE is_start) AS subject,
  string_agg(DISTINCT op_name, ' ' ORDER BY op_name)
    FILTER (WHERE is_candidate AND is_start) AS operations
FROM grouped_operations AS g
LEFT JOIN operation_places AS e USING (pair, is_candidate, instruction_id)
LEFT JOIN innermost_calls AS n USING (pair, is_candidate, frame_id)
GROUP BY pair, source_file, g.function_name
