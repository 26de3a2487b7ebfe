-- Made from tables/ by `make docs`.

CREATE TABLE store.files (
  file_id INTEGER,
  file_key BIGINT,
  path TEXT,
  kind TEXT,
  stage TEXT,
  module_id BIGINT,
  sha256 TEXT,
  size_bytes BIGINT,
  lines_total BIGINT,
  lines_unclaimed BIGINT,
  reason TEXT
);

CREATE TABLE store.instruction_forms (
  form_id INTEGER,
  form_key BIGINT,
  opcode TEXT,
  shape TEXT,
  element_type TEXT,
  logical_bytes BIGINT,
  layout TEXT,
  color INTEGER,
  parameter_number INTEGER,
  op_name TEXT,
  op_type TEXT,
  sharding TEXT,
  fusion_kind TEXT,
  custom_call_target TEXT,
  channel_id BIGINT,
  replica_groups TEXT,
  backend_config TEXT,
  literal TEXT,
  attributes TEXT
);

CREATE TABLE store.instructions (
  module_id BIGINT,
  instruction_id INTEGER,
  computation_id INTEGER,
  name TEXT,
  form_id INTEGER,
  is_root BOOLEAN,
  position INTEGER,
  schedule_step INTEGER,
  line_offset INTEGER
);

CREATE TABLE store.live_ranges (
  module_id BIGINT,
  instruction_id INTEGER,
  shape_index TEXT,
  value_id INTEGER,
  start_step INTEGER,
  end_step INTEGER
);

CREATE TABLE store.location_lists (
  list_id BIGINT,
  location_number INTEGER,
  source_file TEXT,
  source_line INTEGER,
  source_end_line INTEGER,
  source_column INTEGER,
  source_end_column INTEGER,
  stack_frame_id INTEGER
);

CREATE TABLE store.location_numbers (
  numbering_id BIGINT,
  instruction_id INTEGER,
  location_number INTEGER
);

CREATE TABLE store.location_sets (
  locations_id BIGINT,
  numbering_id BIGINT,
  list_id BIGINT,
  frames_id BIGINT
);

CREATE TABLE store.occurrences (
  run_id BIGINT,
  path_id INTEGER,
  snapshot_id INTEGER
);

CREATE TABLE store.paths (
  path_id INTEGER,
  path_key BIGINT,
  module_number INTEGER,
  rank INTEGER,
  path TEXT,
  stage TEXT,
  pipeline TEXT,
  pass_after TEXT,
  pass_before TEXT,
  pass_step INTEGER,
  platform TEXT
);

CREATE TABLE store.run_files (
  run_id BIGINT,
  file_id INTEGER,
  status TEXT
);

CREATE TABLE store.schedule (
  module_id BIGINT,
  step INTEGER,
  instruction_id INTEGER
);

CREATE TABLE store.snapshots (
  snapshot_id INTEGER,
  snapshot_key BIGINT,
  module_id BIGINT,
  locations_id BIGINT,
  part INTEGER,
  folder TEXT,
  name TEXT,
  program TEXT,
  program_key BIGINT,
  is_scheduled BOOLEAN,
  num_partitions INTEGER,
  replica_count INTEGER,
  entry_computation_id INTEGER,
  entry_layout TEXT,
  computation_count INTEGER,
  instruction_count INTEGER,
  fusion_count INTEGER,
  graph_fingerprint BIGINT,
  exact_fingerprint BIGINT,
  printed_total_bytes BIGINT,
  first_line INTEGER,
  unit_digest BIGINT,
  allocation_count INTEGER,
  value_count INTEGER,
  live_range_count INTEGER,
  has_assignment BOOLEAN,
  has_live_ranges BOOLEAN,
  is_detailed BOOLEAN
);

CREATE TABLE store.stack_frames (
  frames_id BIGINT,
  stack_frame_id INTEGER,
  parent_id INTEGER,
  function_name TEXT,
  file_name TEXT,
  line INTEGER,
  "column" INTEGER,
  user_frame_id INTEGER
);

CREATE TABLE store.value_positions (
  module_id BIGINT,
  value_id INTEGER,
  ordinal INTEGER,
  instruction_id INTEGER,
  shape_index TEXT
);

CREATE TABLE store.value_uses (
  module_id BIGINT,
  value_id INTEGER,
  ordinal INTEGER,
  instruction_id INTEGER,
  operand_index INTEGER,
  shape_index TEXT
);

CREATE TABLE store.values (
  module_id BIGINT,
  value_id INTEGER,
  instruction_id INTEGER,
  shape_index TEXT,
  color INTEGER,
  is_phi BOOLEAN,
  shape TEXT,
  logical_bytes BIGINT
);

CREATE TABLE aliases (
  module_id BIGINT,
  output_index TEXT,
  parameter_number INTEGER,
  parameter_index TEXT,
  kind TEXT
);

CREATE TABLE allocation_values (
  module_id BIGINT,
  allocation_id INTEGER,
  value_id INTEGER,
  offset_bytes BIGINT,
  size_bytes BIGINT
);

CREATE TABLE allocations (
  module_id BIGINT,
  allocation_id INTEGER,
  size_bytes BIGINT,
  color INTEGER,
  kind TEXT,
  parameter_number INTEGER,
  parameter_shape_index TEXT,
  is_live_out BOOLEAN,
  is_output_tuple BOOLEAN,
  shape TEXT,
  page INTEGER
);

CREATE TABLE called_computations (
  module_id BIGINT,
  instruction_id INTEGER,
  role TEXT,
  ordinal INTEGER,
  computation_id INTEGER
);

CREATE TABLE compiler_flags (
  run_id BIGINT,
  module_number INTEGER,
  name TEXT,
  value TEXT
);

CREATE TABLE computations (
  module_id BIGINT,
  computation_id INTEGER,
  name TEXT,
  kind TEXT,
  root_instruction_id INTEGER,
  instruction_count INTEGER,
  execution_thread TEXT
);

CREATE TABLE device_memory (
  device TEXT,
  memory_bytes BIGINT,
  usable_bytes BIGINT,
  source TEXT
);

CREATE TABLE elided_literals (
  module_id BIGINT,
  instruction_id INTEGER,
  size_bytes BIGINT,
  digest TEXT
);

CREATE TABLE finding_events (
  finding_id TEXT,
  event_number INTEGER,
  event TEXT,
  reason TEXT,
  until TEXT,
  actor TEXT,
  happened_at TIMESTAMP WITHOUT TIME ZONE,
  report_id TEXT,
  candidate_run TEXT,
  candidate_bytes BIGINT
);

CREATE TABLE findings (
  finding_id TEXT NOT NULL,
  program TEXT,
  rank INTEGER,
  color INTEGER,
  space_name TEXT,
  metric TEXT,
  first_run TEXT,
  base_run TEXT,
  change TEXT,
  base_bytes BIGINT,
  candidate_bytes BIGINT,
  cause_key TEXT,
  cause_title TEXT,
  report_id TEXT,
  PRIMARY KEY (finding_id)
);

CREATE TABLE log_memory_stats (
  run_id BIGINT,
  path TEXT,
  ordinal INTEGER,
  line BIGINT,
  rank INTEGER,
  form TEXT,
  argument_bytes BIGINT,
  output_bytes BIGINT,
  alias_bytes BIGINT,
  temp_bytes BIGINT,
  generated_code_bytes BIGINT,
  host_argument_bytes BIGINT,
  host_output_bytes BIGINT,
  host_alias_bytes BIGINT,
  host_temp_bytes BIGINT,
  host_generated_code_bytes BIGINT,
  peak_bytes BIGINT,
  total_allocation_bytes BIGINT,
  indefinite_bytes BIGINT,
  peak_unpadded_bytes BIGINT,
  total_bytes BIGINT
);

CREATE TABLE memory_analysis (
  run_id BIGINT,
  path TEXT,
  ordinal INTEGER,
  module_name TEXT,
  argument_bytes BIGINT,
  output_bytes BIGINT,
  alias_bytes BIGINT,
  temp_bytes BIGINT,
  generated_code_bytes BIGINT,
  host_argument_bytes BIGINT,
  host_output_bytes BIGINT,
  host_alias_bytes BIGINT,
  host_temp_bytes BIGINT,
  host_generated_code_bytes BIGINT,
  peak_bytes BIGINT,
  total_allocation_bytes BIGINT,
  indefinite_bytes BIGINT,
  peak_unpadded_bytes BIGINT
);

CREATE TABLE memory_profile (
  module_id BIGINT,
  color INTEGER,
  reserved_bytes BIGINT,
  parameter_bytes BIGINT,
  constant_bytes BIGINT,
  live_out_bytes BIGINT,
  thread_local_bytes BIGINT,
  temp_bytes BIGINT,
  temp_live_peak_bytes BIGINT,
  live_peak_bytes BIGINT,
  peak_step INTEGER,
  fragmentation_bytes BIGINT,
  fragmentation_ratio DOUBLE PRECISION,
  padding_bytes BIGINT,
  allocation_count INTEGER,
  conflict_count INTEGER
);

CREATE TABLE memory_report_allocations (
  module_id BIGINT,
  allocation_id INTEGER,
  color INTEGER,
  size_bytes BIGINT,
  size_text TEXT
);

CREATE TABLE memory_report_values (
  module_id BIGINT,
  table_number INTEGER,
  color INTEGER,
  allocation_id INTEGER,
  offset_bytes BIGINT,
  value_count INTEGER,
  size_bytes BIGINT,
  size_text TEXT,
  shapes TEXT
);

CREATE TABLE memory_reports (
  module_id BIGINT,
  color INTEGER,
  total_bytes BIGINT,
  hidden_count INTEGER
);

CREATE TABLE memory_spaces (
  platform TEXT,
  color INTEGER,
  space_name TEXT
);

CREATE TABLE memory_timeline (
  module_id BIGINT,
  color INTEGER,
  from_step INTEGER,
  to_step INTEGER,
  live_bytes BIGINT,
  temp_live_bytes BIGINT
);

CREATE TABLE oom_buffers (
  run_id BIGINT,
  path TEXT,
  ordinal INTEGER,
  place INTEGER,
  size_bytes BIGINT,
  unpadded_bytes BIGINT,
  shape TEXT,
  is_parameter BOOLEAN,
  label TEXT,
  op_name TEXT,
  source_file TEXT,
  source_line INTEGER,
  allocation_type TEXT,
  instruction TEXT
);

CREATE TABLE oom_chunks (
  run_id BIGINT,
  path TEXT,
  ordinal INTEGER,
  place INTEGER,
  size_bytes BIGINT,
  is_free BOOLEAN,
  program_name TEXT,
  kind TEXT,
  allocation_id INTEGER,
  chunk_count BIGINT
);

CREATE TABLE oom_reports (
  run_id BIGINT,
  path TEXT,
  ordinal INTEGER,
  line BIGINT,
  rank INTEGER,
  form TEXT,
  space_name TEXT,
  requested_bytes BIGINT,
  used_bytes BIGINT,
  capacity_bytes BIGINT,
  reserved_bytes BIGINT,
  program_bytes BIGINT,
  parameter_bytes BIGINT,
  constant_bytes BIGINT,
  live_out_bytes BIGINT,
  shared_bytes BIGINT,
  temp_bytes BIGINT,
  temp_fragmentation_bytes BIGINT,
  total_bytes BIGINT,
  total_fragmentation_bytes BIGINT,
  excess_bytes BIGINT,
  excess_text TEXT,
  program_name TEXT,
  error_code TEXT,
  operation TEXT,
  allocator_name TEXT,
  device_name TEXT,
  parameter_number INTEGER,
  free_bytes BIGINT,
  reservable_bytes BIGINT,
  largest_free_bytes BIGINT,
  in_use_bytes BIGINT,
  peak_in_use_bytes BIGINT,
  limit_bytes BIGINT,
  pool_bytes BIGINT,
  device_free_bytes BIGINT,
  device_bytes BIGINT,
  message TEXT,
  repeat_count BIGINT
);

CREATE TABLE operands (
  module_id BIGINT,
  instruction_id INTEGER,
  operand_index INTEGER,
  operand_id INTEGER
);

CREATE TABLE passes (
  run_id BIGINT,
  module_number INTEGER,
  ordinal INTEGER,
  pipeline TEXT,
  pass_name TEXT,
  has_changed BOOLEAN,
  started_us BIGINT,
  duration_us BIGINT
);

CREATE TABLE printed_peaks (
  module_id BIGINT,
  instruction TEXT,
  shape_index TEXT,
  peak_step INTEGER,
  printed_bytes BIGINT
);

CREATE TABLE proto_comparisons (
  run_id BIGINT,
  path TEXT,
  table_name TEXT,
  compared_count BIGINT,
  difference_count BIGINT,
  example TEXT
);

CREATE TABLE rejects (
  run_id BIGINT,
  path TEXT,
  line BIGINT,
  column_number BIGINT,
  section TEXT,
  code TEXT,
  message TEXT,
  snippet TEXT
);

CREATE TABLE runs (
  run_id BIGINT NOT NULL,
  name TEXT NOT NULL,
  series TEXT,
  started_at TIMESTAMP WITHOUT TIME ZONE,
  is_started_at_given BOOLEAN,
  ingested_at TIMESTAMP WITHOUT TIME ZONE,
  commit_sha TEXT,
  branch TEXT,
  compiler_version TEXT,
  framework_version TEXT,
  platform TEXT,
  device TEXT,
  device_memory_bytes BIGINT,
  topology TEXT,
  origin TEXT,
  labels JSON,
  hlodb_version TEXT,
  pruned_at TIMESTAMP WITHOUT TIME ZONE,
  PRIMARY KEY (run_id),
  UNIQUE (name)
);

CREATE TABLE warehouse_info (
  key TEXT NOT NULL,
  value TEXT,
  PRIMARY KEY (key)
);
