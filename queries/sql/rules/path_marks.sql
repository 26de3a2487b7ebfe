-- title: Parts of op_name that show the phase of an operation
-- question: Which parts of a framework path show that an operation belongs to
--   the forward pass, the backward pass or the optimiser?
-- definition: If a path contains marks of several phases (backward, forward,
--   optimiser), the one with the lowest place decides. Replace it with a query
--   of your own with this name and these columns.
-- grain: mark
-- column place BIGINT id neutral: Order of the mark.
-- column framework VARCHAR name neutral: Framework that writes it; any: names
--   that libraries and users choose.
-- column meaning VARCHAR name neutral: backward, forward or optimiser: the
--   phase; whole_forward: the framework marks the whole forward pass this way;
--   recomputed: second computation of a checkpoint; by_line: operations of all
--   phases have this name, and their source lines decide (line_marks);
--   without_line: made by the framework, which gives no line in any phase.
-- column found_as VARCHAR name neutral: part: anywhere in the path; end: at
--   its end; word: between slashes, parentheses or underscores, in upper or
--   lower case, but for dynamic_update_, which writes into an array.
-- column mark VARCHAR text neutral: The text.
SELECT
  CAST(r.place AS BIGINT) AS place, r.framework, r.meaning, r.found_as, r.mark
FROM (VALUES
  (10, 'jax', 'backward', 'part', 'transpose('),
  (20, 'tensorflow', 'backward', 'part', 'gradient_tape/'),
  (30, 'pytorch', 'backward', 'part', 'aot_backward'),
  (40, 'pytorch', 'backward', 'end', '_backward'),
  (50, 'jax', 'forward', 'part', 'jvp('),
  (60, 'pytorch', 'forward', 'part', 'aot_forward'),
  (70, 'any', 'optimiser', 'word', 'adam'),
  (80, 'any', 'optimiser', 'word', 'adamw'),
  (90, 'any', 'optimiser', 'word', 'sgd'),
  (100, 'any', 'optimiser', 'word', 'optimiser'),
  (110, 'any', 'optimiser', 'word', 'optimizer'),
  (120, 'any', 'optimiser', 'word', 'apply_update'),
  (130, 'any', 'optimiser', 'word', 'apply_updates'),
  (140, 'any', 'optimiser', 'word', 'update'),
  (150, 'any', 'optimiser', 'word', 'momentum'),
  (160, 'any', 'optimiser', 'word', 'lion'),
  (170, 'any', 'optimiser', 'word', 'adafactor'),
  (180, 'any', 'optimiser', 'word', 'lamb'),
  (190, 'any', 'optimiser', 'word', 'rmsprop'),
  (200, 'any', 'optimiser', 'word', 'adagrad'),
  (210, 'any', 'optimiser', 'word', 'adadelta'),
  (220, 'any', 'optimiser', 'word', 'adamax'),
  (230, 'any', 'optimiser', 'word', 'nadam'),
  (240, 'any', 'optimiser', 'word', 'ftrl'),
  (250, 'any', 'optimiser', 'word', 'muon'),
  (300, 'jax', 'whole_forward', 'part', 'jvp('),
  (310, 'jax', 'recomputed', 'part', 'rematted_computation'),
  (320, 'pytorch', 'by_line', 'part', 'aten__'),
  (330, 'pytorch', 'without_line', 'part', 'xla__scan')
) AS r (place, framework, meaning, found_as, mark)
