-- title: What was edited between the sources of two compilations
-- question: Which edits of a program lie between two of its snapshots before
--   optimisations?
-- definition: Operations of both snapshots are aligned by framework path,
--   opcode (of a Fourier transform also its kind) and function of the
--   innermost user frame, with element type, dimensions and sharding, and by
--   those of their operands. Names, numbers, order, files and lines are
--   ignored, as are parts of a path and functions that only one side has, and
--   wrappers of JAX (jit, jvp, checkpoint, while).
--   Types and dimensions are left out where those of the arguments changed. An
--   operation that the other side lacks starts an edit if none of its operands
--   is lacking, too. These starts are grouped by the outermost call below
--   which most operations are lacking, else by the user's line. Edits of their
--   own are donations, outputs, constants of at least 4 KiB, callbacks,
--   shardings of arguments, other moments of an optimiser, loops that are
--   gone, new or of other trip counts, and operations that are no longer or
--   newly recomputed (of checkpoints). What starts below such a loop or
--   checkpoint belongs to its edit. Where a loop stacks another array, or no
--   longer does (stack), what only reads it belongs to that. Where all calls
--   of the user are at the same lines and columns on both sides, and outputs
--   are the same, operations that are added, removed or replaced are those of
--   another release of a library, and no edit. A candidate that was checked
--   out in another folder than the base has the base's files.
-- grain: pair of snapshots, edit
-- steps: programs, program_instructions, forms, operand_edges, program_calls,
--   call_paths, forward_computations, call_chains, arguments,
--   argument_agreement, dumped_frames, checkouts, frames, user_functions,
--   call_sites, innermost_calls, instruction_frames, edited_calls,
--   user_folders, core_paths, operations, key_counts, signed_operations,
--   uneven_operations, added_calls, unmatched_operations, edited_functions,
--   untouched_functions, first_unmatched, operation_places,
--   renamed_functions, edit_sites, recomputed_computations, gradient_sides,
--   recomputation_counts, recomputation_changes, loop_sizes,
--   library_computations, surplus_loops, loop_contents, unmatched_loops,
--   step_sizes, loop_stacks, loop_changes, loop_edits, moved_checkpoints,
--   loop_checkpoints, barrier_sites, recomputed_keys, checkpoint_callers,
--   lone_checkpoints, recomputation_edits, constant_edits, callback_edits,
--   output_edits, argument_edits, optimiser_edits, gradient_edits,
--   explained_starts, repeated_starts, group_starts, grouped_operations,
--   relocated_operations, relocated_shardings, operation_lists,
--   reshaped_keys, batch_dimensions, group_stacks, group_types, group_shapes,
--   group_paths, group_callees, group_sums, random_draws, group_changes,
--   ranked_groups, shape_followers, groups_called_elsewhere, group_edits,
--   loops_around, stack_makers, moved_groups, followed_shapes, edited_lines,
--   all_edits, edits, sentences
-- param base_runs BIGINT[] = NULL from 0: run_id of each base snapshot.
-- param base_ids BIGINT[] = NULL: Their contents.
-- param candidate_runs BIGINT[] = NULL from 0: run_id of each candidate
--   snapshot.
-- param candidate_ids BIGINT[] = NULL: Their contents.
-- param with_paths BOOLEAN = false: Fill base_paths and candidate_paths.
-- column pair BIGINT id neutral: Position of the pair in the lists.
-- column place BIGINT id neutral: Order of the edit, the greatest first.
-- column change VARCHAR name neutral: donation, output, constant, callback,
--   argument_sharding, optimiser, loop, recomputation, gradients, retyped,
--   resharded, reshaped, batched, unbatched, stack, random, moved, added,
--   removed or replaced.
-- column rule_id VARCHAR name neutral: Its rule of cause_rules.
-- column sentence VARCHAR text neutral: What was edited, as the rule says it.
-- column advice VARCHAR text neutral: What undoes it.
-- column base_text VARCHAR text neutral: What the base has: a type, shape,
--   sharding, trip count, number of operations, or names of operations.
-- column candidate_text VARCHAR text neutral: The same of the candidate.
-- column subject VARCHAR text neutral: What it is of: an argument, operation
--   or framework path.
-- column operations VARCHAR text neutral: Names of the operations that start
--   it, or that it is of.
-- column operation_count BIGINT count neutral: Operations (arguments, outputs)
--   that differ.
-- column delta_bytes BIGINT bytes neutral: By how much their results grew.
-- column source_file VARCHAR name neutral: File of the edited line.
-- column source_path VARCHAR name neutral: The same without the folder that
--   all files of the user are in.
-- column function_name VARCHAR name neutral: Its function.
-- column base_line INTEGER count neutral: Line in the base, from 1; NULL where
--   it has no such operation.
-- column candidate_line INTEGER count neutral: The same in the candidate.
-- column is_line_edited BOOLEAN flag neutral: Whether the line is the edited
--   one; false where a type or shape first differs there, and no call of the
--   user is at another place.
-- column base_paths VARCHAR text neutral: Framework paths of the base that the
--   edit is of, or that descend from it and that the candidate lacks, after
--   those of the calls that lead there, one per line; NULL unless with_paths.
-- column candidate_paths VARCHAR text neutral: The same of the candidate.
SELECT
  e.pair,
  row_number() OVER (
    PARTITION BY e.pair
    ORDER BY
      e.change IN ('loop', 'recomputation') DESC,
      abs(e.delta_bytes) DESC, e.change, e.source_file, e.candidate_line,
      e.base_line, e.subject
  ) AS place,
  e.change, e.rule_id, e.sentence, e.advice, e.base_text, e.candidate_text,
  e.subject, e.operations,
  CAST(e.operation_count AS BIGINT) AS operation_count,
  CAST(e.delta_bytes AS BIGINT) AS delta_bytes,
  CASE
    WHEN e.candidate_line IS NOT NULL
      AND starts_with(e.source_file, k.base_folder || '/')
      THEN k.candidate_folder
        || substr(e.source_file, length(k.base_folder) + 1)
    ELSE e.source_file
  END AS source_file,
  CASE
    WHEN starts_with(e.source_file, d.folder)
      THEN substr(e.source_file, 1 + length(d.folder))
    ELSE e.source_file
  END AS source_path,
  nullif(e.function_name, '') AS function_name, e.base_line,
  e.candidate_line, e.is_line_edited,
  CASE WHEN $with_paths THEN array_to_string(e.base_paths, chr(10)) END
    AS base_paths,
  CASE WHEN $with_paths THEN array_to_string(e.candidate_paths, chr(10)) END
    AS candidate_paths
FROM sentences AS e
LEFT JOIN user_folders AS d USING (pair)
LEFT JOIN checkouts AS k USING (pair)
