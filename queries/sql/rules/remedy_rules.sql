-- title: Remedies that are looked for
-- question: What can be changed in a program so that its peak falls, and at
--   what cost?
-- definition: A row per remedy; the query remedies finds where one applies and
--   what the live peak falls by. A query of your own with the name
--   remedy_rules and these columns takes its place: a row left out is a remedy
--   that is not listed.
-- grain: remedy
-- column place BIGINT id neutral: Order among remedies that save the same.
-- column rule_id VARCHAR name neutral: Its name.
-- column advice VARCHAR text neutral: What to change, in the words of
--   frameworks.
-- column cost VARCHAR text neutral: What it costs.
SELECT CAST(r.place AS BIGINT) AS place, r.rule_id, r.advice, r.cost
FROM (VALUES
  (10, 'donate',
    'Donate these arguments: jax.jit(donate_argnums=…) lets results take their'
      || ' memory.',
    'the caller cannot use the arrays afterwards'),
  (20, 'shard',
    'Shard this argument over the devices: each holds all of it now.',
    'it is gathered where it is used'),
  (30, 'recompute',
    'Recompute in the backward pass what the forward pass saves:'
      || ' jax.checkpoint.',
    'the forward pass once more'),
  (40, 'fill_tile',
    'Choose dimensions that fill the tile: the rest of it is padding.',
    'none'),
  (50, 'halve_element',
    'Use a type of half the width, such as bf16 for f32.',
    'fewer digits')
) AS r (place, rule_id, advice, cost)
