-- title: Programs compiled more than once
-- question: Which functions were compiled several times in a run, and why?
-- definition: Compiled modules of a run by program, separately for each rank
--   or host. Modules of one name whose places in the source have nothing in
--   common (source_functions) are of several programs, such as lambdas. Of a
--   name that many programs have (shared_names), those whose sources have
--   equally many instructions of each opcode, and equal entry shapes but for
--   sizes, are a program; without instructions, those with equal graphs.
--   distinct_graphs counts graph_fingerprints,
--   distinct_layouts entry layouts. varying_arguments lists the array
--   parameters (counted from 0 in print order, tuples flattened) whose shape
--   differs between the modules, with all their shapes: the reason why JAX
--   traced again. Bytes are XLA's 'Total bytes used', over all memory spaces
--   of a module.
-- grain: program (where a name is shared, each program of it), rank, host
-- leading: program, module_count, max_printed_total_bytes, varying_arguments,
--   distinct_graphs, distinct_programs, distinct_layouts
-- param run
-- param program
-- param min_modules BIGINT = 2 from 0: Only programs with at least this many
--   modules.
-- column run
-- column program
-- column rank
-- column module_count BIGINT count lower_is_better: Compiled modules.
-- column distinct_graphs BIGINT count lower_is_better: Distinct graph
--   structures.
-- column distinct_programs BIGINT count lower_is_better: Distinct
--   exact_fingerprints.
-- column distinct_layouts BIGINT count lower_is_better: Distinct entry
--   layouts.
-- column varying_arguments VARCHAR text neutral: Array parameters whose shape
--   varies.
-- column sum_printed_total_bytes BIGINT bytes lower_is_better: Sum of the
--   modules' printed totals.
-- column max_printed_total_bytes BIGINT bytes lower_is_better: Greatest of the
--   modules' printed totals.
-- column host VARCHAR name neutral: Folder of the host, where only the folder
--   distinguishes hosts.
-- column module_number INTEGER id neutral: Least of the modules' numbers.
WITH asked AS MATERIALIZED (
  -- Arguments are read inside of macros, where no column may have their names.
  SELECT r.run_id FROM selected_run() AS r
),
compilations_there AS MATERIALIZED (
  SELECT
    c.*, s.name IS NOT NULL AS is_nameless,
    coalesce(c.source_id, c.module_id) AS earliest_id, n.function_place
  FROM compilations(run_ids := (SELECT list(a.run_id) FROM asked AS a)) AS c
  LEFT JOIN source_functions(
    run_ids := (SELECT list(a.run_id) FROM asked AS a)
  ) AS n
    ON n.run_id = c.run_id
    AND n.place = c.place
  LEFT JOIN shared_names() AS s
    ON s.kind = 'program'
    AND s.name = c.program
  WHERE $program IS NULL
    OR c.program = $program
),
-- Fixed before they meet the compilations: else the modules of all runs do.
modules_there AS MATERIALIZED (
  SELECT
    m.run_id, m.module_id, m.path, m.program, m.graph_fingerprint,
    m.exact_fingerprint, m.entry_layout, m.printed_total_bytes
  FROM (SELECT unnest(list(a.run_id)) AS run_id FROM asked AS a) AS n
  JOIN modules AS m USING (run_id)
),
mixes AS (
  SELECT x.*
  FROM opcode_mixes(module_ids := (
    SELECT list(t.earliest_id)
    FROM compilations_there AS t
    WHERE t.is_nameless
  )) AS x
),
compiled AS MATERIALIZED (
  SELECT
    c.run_id, c.run AS run_name, c.program AS program_name,
    CASE
      WHEN NOT c.is_nameless THEN coalesce(c.function_place, 0)
      WHEN x.opcode_mix IS NULL THEN hash(c.source_graph, c.graph_fingerprint)
      ELSE hash(
        x.opcode_mix,
        regexp_replace(
          coalesce(c.source_shapes, c.entry_shapes, ''),
          '([\[,])<?=?\d+', '\1', 'g'
        )
      )
    END AS kind,
    c.rank, h.host, c.module_id,
    min(c.module_number) AS module_number,
    max(m.graph_fingerprint) AS graph_fingerprint,
    max(m.exact_fingerprint) AS exact_fingerprint,
    max(m.entry_layout) AS entry_layout,
    max(m.printed_total_bytes) AS printed_total_bytes,
    count(*) AS occurrences
  FROM compilations_there AS c
  JOIN modules_there AS m
    ON m.run_id = c.run_id
    AND m.module_id = c.module_id
    AND m.path = c.path
    AND m.program = c.program
  LEFT JOIN mixes AS x ON x.module_id = c.earliest_id
  LEFT JOIN hosts() AS h
    ON h.run_id = c.run_id
    AND h.folder = c.folder
  GROUP BY ALL
),
arguments AS (
  SELECT
    run_id, program_name, kind, rank, host, module_id,
    regexp_extract_all(
      split_part(entry_layout, '->', 1), '[a-z][a-z0-9]*\[[^\]]*\]'
    ) AS shapes
  FROM compiled
),
places AS (
  SELECT
    run_id, program_name, kind, rank, host, module_id,
    unnest(shapes) AS argument_shape,
    generate_subscripts(shapes, 1) - 1 AS argument
  FROM arguments
),
varying AS (
  SELECT
    run_id, program_name, kind, rank, host, argument,
    argument || ': ' || string_agg(
      DISTINCT argument_shape, ', ' ORDER BY argument_shape
    ) AS argument_text
  FROM places
  GROUP BY run_id, program_name, kind, rank, host, argument
  HAVING count(DISTINCT argument_shape) > 1
),
reasons AS (
  SELECT
    run_id, program_name, kind, rank, host,
    string_agg(argument_text, '; ' ORDER BY argument) AS varying_arguments
  FROM varying
  GROUP BY run_id, program_name, kind, rank, host
),
counted AS (
  SELECT
    c.run_name, c.program_name, c.kind, c.rank, c.host,
    sum(c.occurrences) AS module_count,
    count(DISTINCT c.graph_fingerprint) AS distinct_graphs,
    count(DISTINCT c.exact_fingerprint) AS distinct_programs,
    count(DISTINCT c.entry_layout) AS distinct_layouts,
    max(r.varying_arguments) AS varying_arguments,
    sum(CAST(c.printed_total_bytes AS HUGEINT) * c.occurrences)
      AS sum_printed_total_bytes,
    max(c.printed_total_bytes) AS max_printed_total_bytes,
    min(c.module_number) AS module_number
  FROM compiled AS c
  LEFT JOIN reasons AS r
    ON r.run_id = c.run_id
    AND r.program_name = c.program_name
    AND r.kind = c.kind
    AND r.rank IS NOT DISTINCT FROM c.rank
    AND r.host IS NOT DISTINCT FROM c.host
  GROUP BY c.run_name, c.program_name, c.kind, c.rank, c.host
)
SELECT
  c.run_name AS run, c.program_name AS program, c.rank,
  CAST(c.module_count AS BIGINT) AS module_count,
  c.distinct_graphs, c.distinct_programs, c.distinct_layouts,
  c.varying_arguments,
  CAST(c.sum_printed_total_bytes AS BIGINT) AS sum_printed_total_bytes,
  c.max_printed_total_bytes, c.host, c.module_number
FROM counted AS c
WHERE c.module_count >= $min_modules
ORDER BY
  module_count DESC, sum_printed_total_bytes DESC, c.program_name, c.rank,
  c.host, c.module_number
