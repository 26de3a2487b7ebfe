-- title: Rules for the roles of values
-- question: Which rules decide whether a value is a weight, optimiser state,
--   gradient or activation?
-- definition: The first rule (by place) whose conditions all hold decides;
--   NULL is no condition. kind: kind of allocation. is_donated: the
--   parameter's allocation is live-out. name_pattern: regular expression on
--   op_name, for values in a parameter's allocation on that of the parameter.
--   opcode_pattern: on the defining operation. made_in and last_read_in:
--   phases from value_phases; for values in a parameter's allocation see
--   peak_roles. is_gathered: see gathered_values. Replace it with a query of
--   your own with this name and these columns.
-- grain: rule
-- column place BIGINT id neutral: Order of the rule.
-- column rule_id VARCHAR name neutral: Name of the rule.
-- column role VARCHAR name neutral: Role that it gives.
-- column kind VARCHAR name neutral: Kind of allocation.
-- column is_donated BOOLEAN flag neutral: Whether the parameter is updated in
--   place.
-- column name_pattern VARCHAR text neutral: Regular expression on op_name.
-- column opcode_pattern VARCHAR text neutral: Regular expression on the
--   opcode.
-- column made_in VARCHAR name neutral: Phase in which the value is made.
-- column last_read_in VARCHAR name neutral: Phase in which it is last read.
-- column is_gathered BOOLEAN flag neutral: Whether an all-gather assembled it.
SELECT
  CAST(r.place AS BIGINT) AS place, r.rule_id, r.role, r.kind, r.is_donated,
  r.name_pattern, r.opcode_pattern, r.made_in, r.last_read_in, r.is_gathered
FROM (VALUES
  (10, 'constant', 'constants', 'constant',
    NULL, NULL, NULL, NULL, NULL, NULL),
  (14, 'cache_by_name', 'caches', 'parameter',
    NULL,
    '(^|[^a-z])([a-z]*caches?|cached_[a-z]+|past_key_values'
      || '|(kv?|v|key|value)_pages|pages_[kv])([^a-z]|$)',
    NULL, NULL, NULL, NULL),
  -- The argument params holds no optimiser state, whatever is called v in it.
  (16, 'params', 'weights', 'parameter',
    NULL, '^(state\.)?params?([^a-z]|$)',
    NULL, NULL, NULL, NULL),
  (20, 'state_by_name', 'optimiser_state', 'parameter',
    NULL,
    '(^|[^a-z])(opt_state|mu|nu|m|v|momentum|velocity|exp_avg(_sq)?|trace'
      || '|acc_grads|sum_of_squares|v_(row|col))([^a-z]|$)',
    NULL, NULL, NULL, NULL),
  -- PyTorch names no argument, but the line that reads it first.
  (25, 'state_by_line', 'optimiser_state', 'parameter',
    TRUE, '^xla__device_data$', NULL, 'optimiser', NULL, NULL),
  (26, 'gradient_by_line', 'gradients', 'parameter',
    TRUE, '^xla__device_data$', NULL, 'backward', NULL, NULL),
  (28, 'state_by_readers', 'optimiser_state', 'parameter',
    TRUE, NULL, NULL, NULL, 'optimiser', NULL),
  (30, 'donated', 'weights', 'parameter',
    TRUE, NULL, NULL, NULL, NULL, NULL),
  (40, 'weight_by_name', 'weights', 'parameter',
    NULL,
    '(^|[^a-z])(params?|p|w|weights?|kernel|bias|scale|emb(ed(ding)?s?)?)'
      || '([^a-z]|$)',
    NULL, NULL, NULL, NULL),
  (50, 'argument', 'inputs', 'parameter',
    NULL, NULL, NULL, NULL, NULL, NULL),
  (60, 'live_out', 'outputs', 'live_out',
    NULL, NULL, NULL, NULL, NULL, NULL),
  (70, 'gathered', 'gathered_weights', 'temp',
    NULL, NULL, NULL, NULL, NULL, TRUE),
  (80, 'saved', 'saved_activations', 'temp',
    NULL, NULL, NULL, 'forward', 'backward', NULL),
  (90, 'recomputed', 'recomputed_activations', 'temp',
    NULL, 'rematted_computation', NULL, 'backward', NULL, NULL),
  (100, 'backward', 'gradients', 'temp',
    NULL, NULL, NULL, 'backward', NULL, NULL),
  (102, 'gradient_sum', 'gradients', 'temp',
    NULL, '(^|/)addn(_[0-9]+)?$', NULL, 'between', NULL, NULL),
  (104, 'between', 'backward_workspace', 'temp',
    NULL, NULL, NULL, 'between', NULL, NULL),
  (110, 'forward', 'activations', 'temp',
    NULL, NULL, NULL, 'forward', NULL, NULL),
  (120, 'optimiser', 'optimiser_workspace', 'temp',
    NULL, NULL, NULL, 'optimiser', NULL, NULL),
  (130, 'custom_call', 'workspace', 'temp',
    NULL, NULL, '^custom-call$', NULL, NULL, NULL)
) AS r (
  place, rule_id, role, kind, is_donated, name_pattern, opcode_pattern,
  made_in, last_read_in, is_gathered
)
