-- title: What is claimed of the difference of two compilations
-- question: What does a difference of memory follow from, how many bytes each,
--   and how sure is that?
-- definition: A claim per edit of source_edits, one for the arguments (inputs)
--   where their sizes or types differ, one for what follows from more than one
--   of these (several), and one for the rest (unexplained): bytes add up to
--   the difference of reserved_bytes. An edit has all of it where nothing else
--   differs: no other edit, arguments, versions, devices and flags; one that
--   would move memory the other way (effect of cause_rules) is said to be the
--   only edit. Elsewhere every changed row of buffer_changes is in one claim.
--   It follows from an edit whose paths hold the framework path of its buffer,
--   as far as the other side lacks what descends from the edit; else from an
--   edit of the line that computes it. Without regard to paths, changes of
--   part alias follow from an edit of donations, constants from one of
--   constants, results and what becomes one from one of outputs: if one has
--   the size of an added output, from that alone. What loops stack follows
--   from the edit of a checkpoint where no other edit is in a loop. Where
--   arguments differ in
--   size or type, resized and retyped buffers, and arguments, follow from the
--   inputs. A buffer without a path has those of its operands, else of its
--   readers. A claim is proven where these rows show at least a hundredth of
--   the difference, or nothing else differs, and likely where its rule was
--   right in at least four of five compiled pairs, or where all other edits
--   move memory the other way; what is neither, or where others have all of
--   the difference, is no row. Bytes follow from several edits only where as
--   many have a row: else they are unexplained. Where the inputs and edits
--   differ and nothing else, the rest likely follows from the edits, if that
--   is more than the inputs have or no argument has another size.
--   Proven edits come before likely ones, both in the order of source_edits,
--   what has less than a tenth of the bytes of another after that, and edits
--   that move memory the other way after those that explain it; where more is
--   unexplained or of several than follows from one of them, likely ones stand
--   among the proven. Likely ones whose kind moves memory either way come
--   last.
-- grain: pair of compilations, memory space, claim
-- steps: asked_pairs, compiled_pairs, edits, space_differences, split_pairs,
--   changed_buffers, changed_sides, borrowed_paths, buffer_paths,
--   results_of_outputs, edit_paths, kinds_of_edits, buffer_lines,
--   path_origins, line_origins, stacks_of_checkpoints, shares,
--   claims_of_edits, joint_shares, claimed_origins, claimed_beside_inputs,
--   shares_of_several, rests
-- param base_runs BIGINT[] = NULL from 0: run_id of each base module.
-- param base_places BIGINT[] = NULL from 0: Their places in the run, see
--   compilations.
-- param candidate_runs BIGINT[] = NULL from 0: run_id of each candidate
--   module.
-- param candidate_places BIGINT[] = NULL from 0: Their places.
-- param split BIGINT[] = NULL from 0: Positions of the pairs whose
--   difference is split; the edits of others have no bytes where there are
--   several. NULL for all.
-- column pair BIGINT id neutral: Position of the pair in the lists.
-- column color
-- column place BIGINT id neutral: Order of the claim in its pair and memory
--   space.
-- column kind VARCHAR name neutral: edit, inputs, several or unexplained.
-- column change VARCHAR name neutral: Kind of edit, see source_edits.
-- column rule_id VARCHAR name neutral: Its rule of cause_rules.
-- column claim VARCHAR text neutral: The claim in words, with the line.
-- column advice VARCHAR text neutral: What undoes the edit; NULL for one that
--   counts against the difference.
-- column subject VARCHAR text neutral: What the edit is of: an argument,
--   operation or framework path.
-- column operation_count BIGINT count neutral: Operations (arguments, outputs)
--   that differ.
-- column source_file VARCHAR name neutral: File of the line.
-- column source_path VARCHAR name neutral: The same without the folder that
--   all files of the user are in.
-- column source_line INTEGER count neutral: Line in the candidate, or in the
--   base where only that has such an operation.
-- column function_name VARCHAR name neutral: Its function.
-- column is_line_edited BOOLEAN flag neutral: Whether that is the edited line;
--   false where a type or shape first differs there.
-- column delta_bytes BIGINT bytes lower_is_better: Bytes of the difference
--   that follow from it; NULL where the difference is not split.
-- column share_ratio DOUBLE ratio neutral: The same as a share of the
--   difference of reserved_bytes; NULL if that is 0.
-- column buffer_count BIGINT count neutral: Rows of buffer_changes that it is
--   of; NULL where it has all or none.
-- column is_against BOOLEAN flag neutral: Whether it moves memory the other
--   way than the difference.
-- column standing VARCHAR name neutral: proven, likely, or unknown for what is
--   unexplained.
-- column evidence_query VARCHAR name neutral: The query whose rows show it.
-- column evidence_parameters VARCHAR text neutral: Its parameters as JSON.
WITH all_claims AS (
  SELECT
    e.pair, e.space_color, 'edit' AS claim_kind, e.place AS edit_place,
    e.change, coalesce(l.rule_id, e.rule_id) AS rule_id,
    coalesce(replace(l.sentence, '{edit}', e.sentence), e.sentence) || CASE
      WHEN NOT e.is_alone OR e.effect * e.direction >= 0 THEN ''
      WHEN e.direction > 0
        THEN ' (no other edit was found, though this one should need less)'
      ELSE ' (no other edit was found, though this one should need more)'
    END AS said,
    CASE
      WHEN e.source_path IS NULL
        OR coalesce(e.candidate_line, e.base_line) IS NULL THEN said
      WHEN e.is_line_edited
        THEN concat(
          e.source_path, ':', coalesce(e.candidate_line, e.base_line),
          ' ' || e.function_name, ': ', said
        )
      ELSE concat(
        -- Of several such edits, which one came first is not known.
        said,
        CASE WHEN n.same_count > 1 THEN ', for example' ELSE ', first' END,
        ' at ', e.source_path, ':', coalesce(e.candidate_line, e.base_line)
      )
    END || e.words_of_others AS words,
    -- Nobody undoes what freed memory, or may have.
    CASE
      WHEN e.is_against OR e.direction < 0 OR i.is_together THEN NULL
      WHEN l.rule_id IS NULL THEN e.advice
      ELSE l.advice
    END AS advice, e.subject,
    e.operation_count, e.source_file, e.source_path,
    coalesce(e.candidate_line, e.base_line) AS line, e.function_name,
    e.is_line_edited, e.share_bytes, e.changed_count, e.is_against, e.standing,
    e.effect * e.direction = 0 AS has_no_direction
  FROM claims_of_edits AS e
  JOIN (
    SELECT o.pair, o.change, count(*) AS same_count
    FROM edits AS o
    GROUP BY o.pair, o.change
  ) AS n
    ON n.pair = e.pair
    AND n.change = e.change
  LEFT JOIN cause_rules() AS l
    ON e.is_little_output
    AND l.change = 'little_output'
  LEFT JOIN claimed_beside_inputs AS i
    ON i.pair = e.pair
    AND i.space_color = e.space_color
  WHERE e.standing IS NOT NULL
  UNION ALL BY NAME
  SELECT
    s.pair, s.space_color, s.origin AS claim_kind,
    CASE s.origin
      WHEN 'inputs' THEN 'the inputs'
      ELSE 'more than one of these'
    END AS words, s.share_bytes, s.changed_count,
    s.share_bytes * d.direction < 0 AS is_against, 'proven' AS standing
  FROM shares_of_several AS s
  JOIN space_differences AS d USING (pair, space_color)
  UNION ALL BY NAME
  SELECT
    j.pair, j.space_color, 'several' AS claim_kind,
    CASE
      WHEN j.counted_bytes IS NULL THEN 'all edits together'
      ELSE 'several edits together'
    END AS words, j.joint_bytes AS share_bytes,
    j.joint_bytes * d.direction < 0 AS is_against, 'proven' AS standing
  FROM joint_shares AS j
  JOIN space_differences AS d USING (pair, space_color)
  UNION ALL BY NAME
  SELECT
    r.pair, r.space_color,
    CASE
      WHEN i.pair IS NULL
        OR abs(r.share_bytes) < 0.01 * abs(r.total_delta) THEN 'unexplained'
      ELSE 'several'
    END AS claim_kind,
    CASE
      WHEN claim_kind = 'unexplained' THEN 'unexplained'
      WHEN i.is_together AND i.edit_count = 1
        THEN 'the inputs and the edit together'
      WHEN i.is_together THEN 'the inputs and the edits together'
      WHEN i.edit_count = 1 THEN 'the edit, given these inputs'
      ELSE 'the edits, given these inputs'
    END AS words, r.share_bytes,
    claim_kind = 'several' AND r.share_bytes * r.direction < 0 AS is_against,
    CASE
      WHEN claim_kind = 'unexplained' THEN 'unknown'
      WHEN i.is_together THEN 'proven'
      ELSE 'likely'
    END AS standing
  FROM rests AS r
  LEFT JOIN claimed_beside_inputs AS i USING (pair, space_color)
)
SELECT
  c.pair, c.space_color AS color,
  row_number() OVER (
    PARTITION BY c.pair, c.space_color
    ORDER BY
      c.claim_kind = 'unexplained', c.is_against,
      list_position(['edit', 'inputs', 'several'], c.claim_kind),
      c.standing = 'likely' AND NOT c.is_mostly_open, c.is_least,
      c.standing = 'likely' AND c.has_no_direction, c.edit_place
  ) AS place,
  c.claim_kind AS kind, c.change, c.rule_id, c.words AS claim, c.advice,
  c.subject, c.operation_count, c.source_file, c.source_path,
  c.line AS source_line, c.function_name, c.is_line_edited,
  CAST(c.share_bytes AS BIGINT) AS delta_bytes,
  c.share_bytes / nullif(d.total_delta, 0) AS share_ratio,
  c.changed_count AS buffer_count, c.is_against, c.standing,
  CASE
    WHEN c.claim_kind = 'edit' AND c.changed_count IS NULL
      THEN 'source_changes'
    ELSE 'buffer_diff'
  END AS evidence_query,
  CAST(json_object(
    'base', b.name, 'candidate', o.name, 'program', p.own_program
  ) AS VARCHAR) AS evidence_parameters
FROM (
  SELECT
    *,
    coalesce(
      sum(abs(share_bytes)) FILTER (
        WHERE claim_kind IN ('unexplained', 'several')
      ) OVER same_space, 0
    ) > coalesce(
      sum(abs(share_bytes)) FILTER (WHERE claim_kind IN ('edit', 'inputs'))
        OVER same_space, 0
    ) AS is_mostly_open,
    -- Bytes that are known beside ten times as many.
    coalesce(
      10 * abs(share_bytes) < max(abs(share_bytes)) FILTER (
        WHERE claim_kind = 'edit' AND NOT is_against
      ) OVER same_space, FALSE
    ) AS is_least
  FROM all_claims
  WINDOW same_space AS (PARTITION BY pair, space_color)
) AS c
JOIN space_differences AS d USING (pair, space_color)
JOIN compiled_pairs AS p USING (pair)
JOIN runs AS b ON b.run_id = p.base_run
JOIN runs AS o ON o.run_id = p.own_run
