-- title: Values that a change to the program could free
-- question: Which values would be smaller or gone after which kind of change?
-- definition: A value is there once for each mark and subject. Without the
--   bytes of all values with one mark and subject, or part of whole of them,
--   the peak may fall; set_leverage says how far. array: every array.
--   argument: in the memory of an argument, or a result that an argument is
--   replaced by. cache: the same, and temporary arrays of its dimensions,
--   with or without the first one. moved: moved_results, and of them stacked
--   where is_stacked. replicated: arguments of replicated_tensors, and
--   optimiser state that each device holds whole; partly_replicated: those in
--   parts, in programs without a backward pass; replicated_gradient: temporary
--   arrays of the dimensions of a replicated argument. padded: arrays of two
--   dimensions or more that are larger than their data, but for padded_rows:
--   copies of an argument in another layout that takes more, of which several
--   rows fill the tile. saved: saved_values outside of loops, less what one
--   block of the program holds and what each other keeps; but for programs
--   that recompute already, and for a CPU where XLA undoes recomputation
--   there (until jaxlib 0.11.0, or where the dump does not tell the release).
--   unrolled: the same on such a CPU where four layers or more are alike.
--   offloaded: their longest time without an access, where there is another
--   memory. kept: of saved_values, the arrays that a loop fills with a part
--   for each iteration, but as many bytes as the loop's own state of the same
--   dimensions has. long_loop: long_loops. activation: temporary arrays of
--   programs that replace arguments and have a batch and a backward pass,
--   with other dimensions than any argument but the inputs, and these,
--   without gathered_values, where most of them have the batch as a
--   dimension. micro_activation: those in a loop that sums the gradients of
--   parts of the batch. wide: 32-bit arrays that are not like an argument, in
--   programs whose large arrays are mostly of 16 bits, and of these
--   wide_softmax: logits, scores, and what a softmax computes. promoted:
--   promoted_arrays, with the line at which they become so. given: constants,
--   and temporary arrays computed from positions alone, but for those that a
--   reduce-window reads: XLA adds them to the gradient of max pooling.
--   reported: results that replace no argument, in programs that replace some
--   or have other results, from the last use on, and what loops collect as
--   results but new weights and state, and what only they need of other
--   values; answer: what loops collect where it is all that the program
--   returns. history: arrays that a loop fills and of which only a small part
--   is read afterwards; summed_history: of which only sums are. logits,
--   scores, differences, examples: temporary arrays that their dimensions
--   give away. prepared: what is widened or gathered before a loop that reads
--   a part of it in each iteration, and is larger; what jax.vmap makes for
--   all iterations. relaid: copies of whole arguments that XLA for TPUs makes
--   with the dimensions in another order, and what follows them in their
--   bytes. spectrum: complex arrays of real numbers for a Fourier transform.
--   product_chain: product_chains. selected_product: selected_products.
--   repeated_matrix: repeated_matrices.
--   repeated_part: repeated_parts. jacobian_row: jacobian_rows. window:
--   window_caches. chunkable: temporary arrays of vmap with a part for each
--   example. whole_result: results that are gathered to be returned.
--   narrowed: 32-bit arguments that are only read to make 16 bits of them.
--   rounded: arrays of programs that are not compiled for a CPU, without
--   operations that need more digits, such as a Cholesky factor. grown:
--   results that are an argument with little behind it. dense_gradient:
--   gradients of tables of which few rows are read. gathered:
--   gathered_values, from their second step to the one before they are read.
--   awaiting: temporary arrays of an argument's dimensions that an operation
--   reads with a number computed from several of them later on, such as the
--   norm of all gradients, and those of which the number is computed, as far
--   as they are live then; from their second step on.
-- grain: module content, value, mark, subject
-- steps: described_values, arrays, missed_pairs, arguments, argument_places,
--   updating_programs, argument_sizes, batch_sizes, scheduled_instructions,
--   saved_arrays, loop_arrays, loop_stacks, reducing_instructions,
--   row_wise_arrays, loop_histories, history_forms, history_members,
--   history_readers, histories, program_traits, padded_arrays,
--   returned_arrays, new_states, grown_results, dense_gradients,
--   result_arrays, read_steps, result_sources, positional_arrays,
--   windowed_arrays, widened_arrays, kept_stacks, long_loops, narrow_programs,
--   awaiting_gradients, shaped_arrays, one_hot_arrays, softmax_dimensions,
--   narrowed_arguments, whole_states, undivided_arguments, whole_updates,
--   batch_arrays, halved_arrays, read_stacks, stacked_examples,
--   prepared_stacks, relaid_arrays, gathered_results, real_spectra, products,
--   product_chains, selected_products, multiplied_arrays, repeated_matrices,
--   repeated_parts, example_lengths, jacobian_programs, jacobian_rows,
--   mapped_arrays, collected_arrays, summed_arrays, chunkable_arrays,
--   divided_programs, replicated_values, replicated_gradients, promotions,
--   promoted_arrays, marks_of_saved, window_caches, marks_alone, marks_of_sets
-- param run
-- param program
-- column module_id
-- column color
-- column value_id
-- column mark VARCHAR name neutral: How a change would free it.
-- column subject VARCHAR text neutral: Name of the values with which it goes;
--   NULL where the rule says so.
-- column instruction_id
-- column kind
-- column opcode
-- column name VARCHAR name neutral: As in remedy_values.
-- column instruction
-- column shape
-- column element_type VARCHAR name neutral: As in remedy_values.
-- column dimensions VARCHAR text neutral: As in remedy_values.
-- column size_bytes
-- column part BIGINT count neutral: So many of
-- column whole BIGINT count neutral: so many bytes are freed; NULL where the
--   rule says so.
-- column is_apart BIGINT count neutral: 1 where the other values of its
--   allocation get memory of their own.
-- column from_step INTEGER step neutral: First step at which it is freed; NULL
--   for its own first.
-- column until_step INTEGER step neutral: Last such step; NULL for its own
--   last.
-- column chunk BIGINT count neutral: How many are computed at once then; NULL
--   but for chunkable.
WITH marked AS (
  SELECT
    v.*, 'array' AS mark, CAST(NULL AS VARCHAR) AS subject,
    CAST(NULL AS BIGINT) AS part, CAST(NULL AS BIGINT) AS whole,
    0 AS is_apart, CAST(NULL AS INTEGER) AS from_step,
    CAST(NULL AS INTEGER) AS until_step
  FROM arrays AS v
  UNION ALL
  SELECT
    v.* REPLACE (p.name AS name), 'argument', NULL,
    -- What is donated in 16 bits XLA for CPUs copies first, and puts other
    -- values in its memory: of the half that goes, 61 to 92 % was saved in
    -- four programs, 73 % on average (jaxlib 0.10.2, 0.11.2 and 0.12.0).
    CASE WHEN t.platform = 'cpu' AND a.is_live_out THEN 1 END,
    CASE WHEN t.platform = 'cpu' AND a.is_live_out THEN 3 END, 0, NULL, NULL
  FROM arrays AS v
  -- Other values may use the memory of an argument that is donated.
  JOIN argument_places AS p
    ON p.module_id = v.module_id
    AND p.allocation_id = v.allocation_id
    AND p.element_type = v.element_type
  JOIN allocations AS a
    ON a.module_id = v.module_id
    AND a.allocation_id = v.allocation_id
  LEFT JOIN program_traits AS t ON t.module_id = v.module_id
  LEFT JOIN (
    SELECT DISTINCT a.module_id, a.dimensions
    FROM arrays AS a
    JOIN result_places() AS o USING (module_id, value_id)
  ) AS r
    ON r.module_id = v.module_id
    AND r.dimensions = v.dimensions
  LEFT JOIN (SELECT DISTINCT module_id FROM result_places()) AS k
    ON k.module_id = v.module_id
  -- State has a result of its own dimensions, or of a part of them, as far as
  -- results are known.
  WHERE t.partitions > 1
    OR r.module_id IS NOT NULL
    OR k.module_id IS NULL
  UNION ALL
  SELECT
    v.* REPLACE (min(p.name) AS name), 'cache', NULL, NULL, NULL, 0, NULL, NULL
  FROM arrays AS v
  JOIN argument_places AS p
    ON p.module_id = v.module_id
    AND (
      p.allocation_id = v.allocation_id
      OR (v.kind = 'temp' AND p.dimensions LIKE '%,%' AND (
        v.dimensions = p.dimensions
        OR p.dimensions = split_part(p.dimensions, ',', 1) || ','
          || v.dimensions
      ))
    )
  GROUP BY ALL
  UNION ALL
  -- They are donated where the program is compiled, not where one is computed.
  SELECT
    v.* REPLACE (CAST(NULL AS INTEGER) AS instruction_id),
    CASE WHEN n.is_stacked THEN 'stacked' ELSE 'moved' END,
    n.arguments, 1, 1, 1, NULL, NULL
  FROM described_values AS v
  JOIN moved_results() AS n
    ON n.module_id = v.module_id
    AND n.value_id = v.value_id
    AND n.color = v.color
  UNION ALL
  SELECT
    v.*,
    -- Weights in parts that are read in each step, without a training step,
    -- are meant to be so.
    CASE
      WHEN r.whole > r.part + 1 AND NOT t.has_backward
        THEN 'partly_replicated'
      ELSE 'replicated'
    END, r.subject, r.part, r.whole, 0, NULL, NULL
  FROM described_values AS v
  JOIN replicated_values AS r
    ON r.module_id = v.module_id
    AND r.value_id = v.value_id
  LEFT JOIN program_traits AS t ON t.module_id = v.module_id
  UNION ALL
  SELECT v.*, 'replicated_gradient', g.subject, g.part, g.whole, 0, NULL, NULL
  FROM arrays AS v
  JOIN replicated_gradients AS g
    ON g.module_id = v.module_id
    AND g.value_id = v.value_id
  UNION ALL
  SELECT
    v.*, s.mark, s.subject, s.part, s.whole, 0, s.from_step, s.until_step
  FROM arrays AS v
  JOIN marks_of_saved AS s
    ON s.module_id = v.module_id
    AND s.value_id = v.value_id
  UNION ALL
  SELECT
    v.*, 'awaiting', 'all gradients', 1, 1, 0, v.start_step + 1, NULL
  FROM arrays AS v
  SEMI JOIN awaiting_gradients AS w
    ON w.module_id = v.module_id
    AND w.value_id = v.value_id
  UNION ALL
  SELECT
    v.*, CASE WHEN h.is_reduced THEN 'summed_history' ELSE 'history' END,
    'history that ' || h.loop_name || ' collects', 1, 1, 1, NULL, NULL
  FROM arrays AS v
  JOIN histories AS h
    ON h.module_id = v.module_id
    AND h.value_id = v.value_id
  WHERE h.is_read_in_part
    AND v.kind = 'temp'
  UNION ALL
  SELECT
    v.* REPLACE (p.operation_id AS instruction_id), 'promoted', p.subject,
    NULL, NULL, 0, NULL, NULL
  FROM arrays AS v
  JOIN promoted_arrays AS p
    ON p.module_id = v.module_id
    AND p.value_id = v.value_id
  UNION ALL
  SELECT v.*, s.mark, NULL, s.part, s.whole, 0, NULL, NULL
  FROM arrays AS v
  JOIN marks_alone AS s
    ON s.module_id = v.module_id
    AND s.value_id = v.value_id
  UNION ALL
  SELECT v.*, s.mark, s.subject, s.part, s.whole, 0, NULL, NULL
  FROM arrays AS v
  JOIN marks_of_sets AS s
    ON s.module_id = v.module_id
    AND s.value_id = v.value_id
  UNION ALL
  SELECT
    v.* EXCLUDE (subject, is_history, is_answer),
    CASE WHEN v.is_answer THEN 'answer' ELSE 'reported' END, v.subject, NULL,
    NULL, 1,
    CASE WHEN NOT v.is_history THEN u.last_step + 1 END, NULL
  FROM result_arrays AS v
  LEFT JOIN read_steps AS u
    ON u.module_id = v.module_id
    AND u.value_id = v.value_id
    AND u.mark = 'reported'
  UNION ALL
  SELECT
    v.* EXCLUDE (subject, from_step), 'reported', v.subject, NULL, NULL, 1,
    v.from_step, NULL
  FROM result_sources AS v
  UNION ALL
  SELECT
    v.* REPLACE (g.instruction_id AS instruction_id), 'grown',
    'results ' || g.likeness, 1, 1, 1, NULL, NULL
  FROM described_values AS v
  JOIN grown_results AS g
    ON g.module_id = v.module_id
    AND g.value_id = v.value_id
  UNION ALL
  SELECT
    v.*, 'gathered', NULL, NULL, NULL, 0, v.start_step + 1, u.first_step - 1
  FROM arrays AS v
  JOIN read_steps AS u
    ON u.module_id = v.module_id
    AND u.value_id = v.value_id
    AND u.mark = 'gathered'
  WHERE u.first_step > v.start_step + 1
)
SELECT
  m.module_id, m.color, m.value_id, m.mark, m.subject, m.instruction_id,
  m.kind, m.opcode, m.name, m.instruction, m.shape, m.element_type,
  m.dimensions, m.size_bytes, m.part, m.whole,
  CAST(m.is_apart AS BIGINT) AS is_apart, m.from_step, m.until_step, c.chunk
FROM marked AS m
LEFT JOIN chunkable_arrays AS c
  ON m.mark = 'chunkable'
  AND c.module_id = m.module_id
  AND c.value_id = m.value_id
