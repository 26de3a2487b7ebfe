-- title: What memory_analysis() printed into logs
-- question: How much memory does a program need, by the figures that a log or
--   a page has of it?
-- definition: Figures of JAX's memory_analysis() that somebody printed, also
--   as MaxText's sentence, whose figures are rounded. needed_bytes is the
--   total as printed, else arguments, results, temporaries and code less the
--   results that share the memory of arguments (aliases). Where only the total
--   is printed, alias_bytes is what its parts are more.
-- grain: figures of a log
-- param run
-- column run
-- column path VARCHAR name neutral: The log inside the run.
-- column line BIGINT id neutral: Line that the figures begin at, from 1.
-- column rank
-- column form VARCHAR name neutral: memory_analysis or maxtext.
-- column needed_bytes BIGINT bytes lower_is_better: What the program needs.
-- column argument_bytes BIGINT bytes lower_is_better: Arguments.
-- column output_bytes BIGINT bytes lower_is_better: Results.
-- column alias_bytes BIGINT bytes higher_is_better: Results that share the
--   memory of arguments.
-- column temp_bytes BIGINT bytes lower_is_better: Temporaries.
-- column code_bytes BIGINT bytes lower_is_better: Machine code.
-- column host_bytes BIGINT bytes lower_is_better: Arguments, results and
--   temporaries in host memory.
-- column total_allocation_bytes BIGINT bytes lower_is_better: All allocations
--   of main memory, since jaxlib 0.11.
-- column indefinite_bytes BIGINT bytes lower_is_better: Those that outlive an
--   execution.
-- column peak_unpadded_bytes BIGINT bytes neutral: XLA's own peak without
--   padding.
SELECT
  r.run, s.path, s.line, s.rank, s.form,
  coalesce(
    s.total_bytes,
    coalesce(s.argument_bytes, 0)
      + coalesce(s.output_bytes, 0)
      + coalesce(s.temp_bytes, 0)
      + coalesce(s.generated_code_bytes, 0)
      - coalesce(s.alias_bytes, 0)
  ) AS needed_bytes, s.argument_bytes, s.output_bytes,
  coalesce(
    s.alias_bytes,
    s.argument_bytes + s.output_bytes + s.temp_bytes - s.total_bytes
  ) AS alias_bytes, s.temp_bytes, s.generated_code_bytes AS code_bytes,
  coalesce(s.host_argument_bytes, 0)
    + coalesce(s.host_output_bytes, 0)
    + coalesce(s.host_temp_bytes, 0)
    - coalesce(s.host_alias_bytes, 0) AS host_bytes,
  s.total_allocation_bytes, s.indefinite_bytes, s.peak_unpadded_bytes
FROM selected_run() AS r
JOIN log_memory_stats AS s USING (run_id)
ORDER BY s.path, s.ordinal
