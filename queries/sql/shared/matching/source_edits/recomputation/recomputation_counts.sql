-- step: How many operations of a key are in the program as such, and how many
--   are recomputed in the backward pass. A key has changed if it is recomputed
--   on one side only, or as often computed but not as often recomputed; not
--   where that side has more of it in both, which are other operations.
--   is_product: it multiplies matrices. is_move: it only reads or writes a
--   part of an array, such as of what a loop saved; is_layout: it only
--   arranges the elements of one. JAX rounds what a policy saves (reduce-
--   precision), which recomputes nothing.
-- grain: pair, key
SELECT
  pair, key,
  regexp_full_match(
    any_value(operation), 'dynamic_(update_)?(slice|index_in_dim)'
  ) AS is_move,
  any_value(opcode) IN ('reshape', 'transpose', 'broadcast', 'copy')
    AS is_layout,
  any_value(opcode) IN ('dot', 'convolution') AS is_product,
  count_if(NOT is_candidate AND is_recomputed) AS base_recomputed,
  count_if(is_candidate AND is_recomputed) AS candidate_recomputed,
  count_if(NOT is_candidate AND NOT is_recomputed) AS base_computed,
  count_if(is_candidate AND NOT is_recomputed) AS candidate_computed,
  base_recomputed <> candidate_recomputed
    AND (
      base_computed = candidate_computed
      OR least(base_recomputed, candidate_recomputed) = 0
      AND (base_computed < candidate_computed)
        <> (base_recomputed < candidate_recomputed)
    )
    AND least(base_computed, candidate_computed) > 0
    AND NOT is_move
    -- Scalars are made for whatever reads them.
    AND any_value(opcode) <> 'broadcast' AS has_changed
FROM operations
WHERE is_located
  AND opcode NOT IN (
    'get-tuple-element', 'tuple', 'opt-barrier', 'reduce-precision'
  )
GROUP BY pair, key
