-- title: What the difference of every program follows from
-- question: Which edits, inputs or unknown causes does a difference of memory
--   between two runs follow from, how many bytes each, and how sure is that?
-- definition: Rows of difference_claims, as in hlodb report and hlodb diff,
--   for compilations that are compared. The bytes of a program and memory
--   space add up to the difference of reserved bytes, the rest being the claim
--   unexplained.
--   Programs whose sources are equal or were not dumped, or without any edit,
--   have no row: buffer_diff lists what changed in these.
-- grain: pair of compilations, see matched_compilations, memory space, claim
-- leading: program, color, delta_bytes, standing, claim
-- param base
-- param candidate
-- param program VARCHAR = NULL of modules.program: Only pairs with this
--   program on at least one side; NULL for all.
-- param follow
-- column base
-- column candidate
-- column program
-- column base_program VARCHAR name neutral: Name of the program in the base,
--   if different.
-- column rank
-- column color
-- column place BIGINT id neutral: Order of the claim: edits that explain the
--   difference, then what moved memory the other way, then the rest.
-- column kind VARCHAR name neutral: edit, inputs (arguments of other sizes or
--   types), several (more than one of these) or unexplained.
-- column claim VARCHAR text neutral: The claim in words, with the line.
-- column advice VARCHAR text neutral: What undoes the edit.
-- column standing VARCHAR name neutral: proven: rows show it; likely: a rule
--   says so that was mostly right; unknown for what is unexplained.
-- column is_against BOOLEAN flag neutral: Whether it moved memory the other
--   way than the difference.
-- column delta_bytes BIGINT bytes lower_is_better: Bytes of the difference
--   that follow from it.
-- column share_ratio DOUBLE ratio neutral: The same as a share of the
--   difference; NULL if that is 0.
-- column change VARCHAR name neutral: Kind of edit, see source_edits.
-- column rule_id VARCHAR name neutral: Its rule of cause_rules.
-- column subject VARCHAR text neutral: Argument, operation or framework path
--   that it is of.
-- column operation_count BIGINT count neutral: Operations (arguments, outputs)
--   that differ.
-- column buffer_count BIGINT count neutral: Rows of buffer_diff that it is of.
-- column source_file VARCHAR name neutral: File of the line.
-- column source_path VARCHAR name neutral: The same without the folder that
--   all files of the user are in.
-- column source_line INTEGER count neutral: Line in the candidate, or in the
--   base where only that has such an operation.
-- column function_name VARCHAR name neutral: Its function.
-- column is_line_edited BOOLEAN flag neutral: Whether that is the edited line;
--   false where a type or shape first differs there.
-- column evidence_query VARCHAR name neutral: The query whose rows show it.
-- column evidence_parameters VARCHAR text neutral: Its parameters as JSON.
WITH pairs AS MATERIALIZED (
  SELECT p.*, row_number() OVER (ORDER BY p.pair_id) AS number
  FROM matched_compilations(
    base := $base, candidate := $candidate, program := $program,
    follow := $follow
  ) AS p
  WHERE p.base_module_id IS NOT NULL
    AND p.candidate_module_id IS NOT NULL
    AND p.base_module_id <> p.candidate_module_id
)
SELECT
  p.base, p.candidate, p.candidate_program AS program,
  nullif(p.base_program, p.candidate_program) AS base_program, p.rank,
  c.color, c.place, c.kind, c.claim, c.advice, c.standing,
  c.is_against, c.delta_bytes, c.share_ratio, c.change, c.rule_id, c.subject,
  c.operation_count, c.buffer_count, c.source_file, c.source_path,
  c.source_line, c.function_name, c.is_line_edited, c.evidence_query,
  c.evidence_parameters
FROM pairs AS p
JOIN difference_claims(
  base_runs := (SELECT list(o.base_run_id ORDER BY o.number) FROM pairs AS o),
  base_places := (SELECT list(o.base_place ORDER BY o.number) FROM pairs AS o),
  candidate_runs := (
    SELECT list(o.candidate_run_id ORDER BY o.number) FROM pairs AS o
  ),
  candidate_places := (
    SELECT list(o.candidate_place ORDER BY o.number) FROM pairs AS o
  )
) AS c ON c.pair = p.number
ORDER BY
  p.pair_id, c.color, c.place
