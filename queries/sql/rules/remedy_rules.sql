-- title: Remedies that are looked for
-- question: What can be changed in a program so that its peak falls, and at
--   what cost?
-- definition: A row per remedy; the query remedies finds where one applies and
--   what the live peak falls by. It applies to values with its mark
--   (remedy_marks) that all of its conditions fit; NULL is no condition. A
--   query of your own with the name remedy_rules and these columns takes its
--   place: a row left out is a remedy that is not listed.
-- grain: remedy
-- column place BIGINT id neutral: Order among remedies that save the same.
-- column rule_id VARCHAR name neutral: Its name.
-- column mark VARCHAR name neutral: Mark of the values it frees.
-- column kind_pattern VARCHAR text neutral: Regular expression on the kind of
--   allocation.
-- column type_pattern VARCHAR text neutral: Regular expression on the whole
--   element type.
-- column name_pattern VARCHAR text neutral: Regular expression on the name.
-- column subject_by VARCHAR name neutral: What values with one subject have in
--   common: type, shape, value, name, or all of them.
-- column subject VARCHAR text neutral: What comes before the name of the
--   group.
-- column part BIGINT count neutral: So many of
-- column whole BIGINT count neutral: so many of their bytes are freed, unless
--   the mark says how many.
-- column advice VARCHAR text neutral: What to change, in the words of
--   frameworks.
-- column cost VARCHAR text neutral: What it costs.
SELECT
  CAST(r.place AS BIGINT) AS place, r.rule_id, r.mark, r.kind_pattern,
  r.type_pattern, r.name_pattern, r.subject_by, r.subject,
  CAST(r.part AS BIGINT) AS part, CAST(r.whole AS BIGINT) AS whole, r.advice,
  r.cost
FROM (VALUES
  (10, 'donate', 'moved', NULL, NULL, NULL, 'all', NULL, 1, 1,
    'Donate these arguments: jax.jit(donate_argnums=…) lets results take their'
      || ' memory.',
    'the caller cannot use the arrays afterwards'),
  (20, 'shard', 'replicated', NULL, NULL, NULL, 'all', NULL, 1, 1,
    'Shard this argument over all partitions: each holds more than its share.',
    'it is gathered where it is used'),
  (24, 'gather_later', 'gathered', NULL, NULL, NULL, 'all',
    'all gathered weights', 1, 1,
    'Gather weights just before they are used: fewer collectives in flight.',
    'computation waits for them'),
  (30, 'recompute', 'saved', NULL, NULL, NULL, 'all', NULL, 1, 1,
    'Recompute in the backward pass what the forward pass saves:'
      || ' jax.checkpoint.',
    'the forward pass once more'),
  (32, 'checkpoint_loop', 'kept', NULL, NULL, NULL, 'all', NULL, 1, 1,
    'Keep only the state of each iteration: jax.checkpoint around the body of'
      || ' jax.lax.scan.',
    'each iteration once more'),
  (34, 'offload', 'offloaded', NULL, NULL, NULL, 'all', NULL, 1, 1,
    'Keep them in the memory of the host between the passes:'
      || ' jax.checkpoint_policies.save_and_offload_only_these_names.',
    'they are copied to the host and back'),
  (36, 'halve_batch', 'activation', NULL, NULL, NULL, 'all',
    'arrays shaped unlike weights and state', 1, 2,
    'Halve the batch, and sum the gradients of two steps up to keep it.',
    'more steps, and the sum of the gradients'),
  (38, 'clip_apart', 'awaiting', NULL, NULL, NULL, 'all', NULL, 1, 1,
    'Clip each gradient by itself (optax.clip, optax.adaptive_grad_clip): the'
      || ' norm of all holds each until the last is there.',
    'another clipping'),
  (40, 'fill_tile', 'padded', NULL, NULL, NULL, 'all', NULL, 1, 1,
    'Choose dimensions that fill the tile: the rest of it is padding.',
    'none'),
  (44, 'drop_output', 'reported', NULL, NULL, NULL, 'value', NULL, 1, 1,
    'Return a sum of this result, or none: no argument is replaced by it.',
    'it cannot be logged'),
  (46, 'drop_constant', 'given', '^constant$', NULL, NULL, 'value', NULL, 1, 1,
    'Compute this constant where it is used, or only the part that is read.',
    'it is computed in each step'),
  (48, 'compute_mask', 'given', '^temp$', NULL, NULL, 'value', NULL, 1, 1,
    'Compare indices where the mask is used, and broadcast no mask over batch'
      || ' and heads: it depends on no argument.',
    'it is computed where it is used'),
  (50, 'halve_cache', 'cache', NULL, NULL,
    '(^|[^a-z])([a-z]*caches?|cached_[a-z]+|past_key_values'
      || '|(kv?|v|key|value)_pages|pages_[kv])([^a-z]|$)',
    'all', 'all caches', 1, 2,
    'Keep half as many positions, or keys and values of half the width.',
    'shorter context, or fewer digits'),
  (52, 'halve_moment', 'argument', NULL, 'f32',
    '(^|[^a-z])(mu|m|momentum|velocity|exp_avg|trace)([^a-z]|$)',
    'all', 'first moments of the optimiser', 1, 2,
    'Keep the first moment in bf16, such as optax.adamw(mu_dtype=…).',
    'fewer digits'),
  (54, 'halve_activation', 'wide', NULL, 'f32', NULL, 'shape',
    'values of ', 1, 2,
    'Keep these in 16 bits as most others are: compute logits and softmax'
      || ' so, and in f32 only sums.',
    'fewer digits'),
  (60, 'halve_element', 'array', NULL, 'f32|f64|s64|u64|c128', NULL, 'type',
    'all values of ', 1, 2,
    'Use a type of half the width, such as bf16 for f32.',
    'fewer digits')
) AS r (
  place, rule_id, mark, kind_pattern, type_pattern, name_pattern, subject_by,
  subject, part, whole, advice, cost
)
