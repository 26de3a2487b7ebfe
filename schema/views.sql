-- The views behind the public tables that are stored in a tighter form.

CREATE OR REPLACE VIEW modules AS
SELECT
  o.run_id, s.module_id, s.locations_id, p.module_number, p.rank, p.path, s.part,
  regexp_replace(p.path, '[^/]*$', '') AS folder, s.name, s.program, s.program_key, p.stage, p.pipeline, p.pass_after,
  p.pass_before, p.pass_step, p.platform, s.is_scheduled, s.num_partitions,
  s.replica_count, s.entry_computation_id, s.entry_layout, s.computation_count,
  s.instruction_count, s.fusion_count, s.graph_fingerprint, s.exact_fingerprint,
  s.printed_total_bytes, s.first_line, s.unit_digest, s.allocation_count,
  s.value_count, s.live_range_count, s.has_assignment, s.has_live_ranges,
  s.is_detailed
FROM store.occurrences AS o
JOIN store.snapshots AS s USING (snapshot_id)
JOIN store.paths AS p USING (path_id);

CREATE OR REPLACE VIEW dump_files AS
SELECT
  r.run_id, f.path, f.kind, f.stage, f.module_id, f.sha256, f.size_bytes,
  r.status, f.lines_total, f.lines_unclaimed, f.reason
FROM store.run_files AS r
JOIN store.files AS f USING (file_id);

CREATE OR REPLACE VIEW locations AS
SELECT
  s.locations_id, n.instruction_id, l.source_file, l.source_line,
  l.source_end_line, l.source_column, l.source_end_column, l.stack_frame_id
FROM store.location_sets AS s
JOIN store.location_numbers AS n USING (numbering_id)
JOIN store.location_lists AS l
  ON l.list_id = s.list_id
  AND l.location_number = n.location_number;

CREATE OR REPLACE VIEW stack_frames AS
SELECT
  s.locations_id, f.stack_frame_id, f.parent_id, f.function_name, f.file_name,
  f.line, f."column", f.user_frame_id
FROM store.location_sets AS s
JOIN store.stack_frames AS f USING (frames_id);

CREATE OR REPLACE VIEW instructions AS
SELECT
  i.module_id, i.instruction_id, i.computation_id, i.name,
  f.opcode, f.shape, f.element_type, f.logical_bytes, f.layout, f.color,
  f.parameter_number, f.op_name, f.op_type, f.sharding, f.fusion_kind,
  f.custom_call_target, f.channel_id, f.replica_groups, f.backend_config,
  f.literal, f.attributes, i.is_root, i.position, i.schedule_step
FROM store.instructions AS i
JOIN store.instruction_forms AS f USING (form_id);

CREATE OR REPLACE VIEW "values" AS
SELECT
  v.module_id, v.value_id, i.name AS instruction, v.instruction_id,
  v.shape_index, v.color, v.is_phi, v.shape, v.logical_bytes
FROM store."values" AS v
LEFT JOIN store.instructions AS i USING (module_id, instruction_id);

CREATE OR REPLACE VIEW value_positions AS
SELECT
  p.module_id, p.value_id, p.ordinal, i.name AS instruction,
  p.instruction_id, p.shape_index
FROM store.value_positions AS p
LEFT JOIN store.instructions AS i USING (module_id, instruction_id);

CREATE OR REPLACE VIEW value_uses AS
SELECT
  u.module_id, u.value_id, u.ordinal, i.name AS instruction,
  u.instruction_id, u.operand_index, u.shape_index
FROM store.value_uses AS u
LEFT JOIN store.instructions AS i USING (module_id, instruction_id);

CREATE OR REPLACE VIEW schedule AS
SELECT s.module_id, s.step, i.name AS instruction, s.instruction_id
FROM store.schedule AS s
LEFT JOIN store.instructions AS i USING (module_id, instruction_id);

CREATE OR REPLACE VIEW live_ranges AS
SELECT
  r.module_id, i.name AS instruction, r.shape_index, r.value_id,
  r.instruction_id, r.start_step, r.end_step
FROM store.live_ranges AS r
LEFT JOIN store.instructions AS i USING (module_id, instruction_id);

CREATE OR REPLACE VIEW located_instructions AS
SELECT
  m.run_id, m.module_id, i.instruction_id,
  m.first_line + i.line_offset AS line,
  coalesce(u.file_name, l.source_file) AS source_file,
  coalesce(u.line, l.source_line) AS source_line,
  u.function_name, l.stack_frame_id
FROM modules AS m
JOIN store.instructions AS i USING (module_id)
LEFT JOIN locations AS l
  ON l.locations_id = m.locations_id
  AND l.instruction_id = i.instruction_id
LEFT JOIN stack_frames AS f
  ON f.locations_id = m.locations_id
  AND f.stack_frame_id = l.stack_frame_id
LEFT JOIN stack_frames AS u
  ON u.locations_id = m.locations_id
  AND u.stack_frame_id = f.user_frame_id;

-- Memory of every module occurrence with the names of its run and memory space:
-- what questions across runs read.
CREATE OR REPLACE VIEW module_memory AS
SELECT
  r.run_id, r.name AS run, r.series, m.program, m.program_key, m.stage,
  m.rank, m.module_number, m.path, m.part, m.module_id, m.locations_id,
  coalesce(m.platform, r.platform) AS platform, p.color,
  coalesce(s.space_name, 'color_' || p.color) AS space_name,
  p.reserved_bytes, p.parameter_bytes, p.constant_bytes, p.live_out_bytes,
  p.thread_local_bytes, p.temp_bytes, p.temp_live_peak_bytes,
  p.live_peak_bytes, p.peak_step, p.fragmentation_bytes,
  p.fragmentation_ratio, p.padding_bytes, p.allocation_count,
  p.conflict_count, m.graph_fingerprint, m.exact_fingerprint,
  m.printed_total_bytes
FROM memory_profile AS p
JOIN modules AS m USING (module_id)
JOIN runs AS r USING (run_id)
LEFT JOIN memory_spaces AS s
  ON s.platform = coalesce(m.platform, r.platform)
  AND s.color = p.color;
