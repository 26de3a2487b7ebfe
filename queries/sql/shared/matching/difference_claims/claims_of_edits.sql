-- step: What is claimed of every edit in every memory space. Where nothing
--   else differs it has all of the difference, also against its rule: a CPU
--   widens what is narrower again. Elsewhere it has the bytes that follow from
--   it if they are exact: those of allocations of its own, or if what is left
--   of the difference, and what other edits have in memory that is shared, is
--   a tenth of them at most: an arena may be packed otherwise. If all others
--   are exact, the last one has the rest, unless that is less than one in
--   twenty and no row shows it, its rule says that it moves memory the other
--   way: more may follow from an output than its own memory; or that it may
--   itself follow from another edit. An edit is proven by bytes that follow
--   from it, at least one in a hundred of the difference or 1 MiB in
--   allocations of its own, or by being the only thing that differs, unless
--   its rule says that it moves memory the other way. It is likely then, and
--   where its rule was mostly right when it was measured, unless it is
--   of operations, which have buffers of their own, or a constant of less, or
--   where all other edits move memory the other way. Where its rule says that
--   it moves memory the other way, it counts against the difference. What is
--   less than that is unexplained. Where nothing but two or three edits
--   differs and none is a claim, all of it follows from them together: the
--   claim names the one whose results grew most, if by more than all others;
--   it is likely, without bytes, where arguments are new or gone, too, that
--   have less than a tenth. Operations that differ, and outputs that are
--   hardly larger, are no claim without bytes of their own beside an edit of
--   loops, checkpoints or gradients: they may follow from it.
--   is_little_output: an output that is new or gone is less than that itself,
--   so that it is what computes it that needs memory: no claim beside an edit
--   that is one, nor where no row shows that memory followed from it.
-- grain: pair, memory space, edit
WITH others AS (
  SELECT
    s.pair, s.space_color, sum(s.share_bytes) AS other_bytes,
    sum(s.share_bytes) FILTER (WHERE s.origin = 'inputs') AS input_bytes,
    sum(s.share_bytes) FILTER (WHERE s.origin = 'several') AS several_bytes
  FROM shares AS s
  WHERE s.origin IN ('inputs', 'several')
  GROUP BY s.pair, s.space_color
),
-- Of other sizes or types, a small argument may make all that is computed so.
pairs_with_larger_inputs AS (
  SELECT DISTINCT c.pair
  FROM changed_buffers AS c
  WHERE c.parameter IS NOT NULL
    AND c.part IN ('resized', 'retyped', 'repadded')
),
-- Without live ranges no row says what needs the temporary memory.
undivided_spaces AS (
  SELECT c.pair, c.space_color
  FROM changed_buffers AS c
  WHERE c.part = 'temp'
  GROUP BY c.pair, c.space_color
),
weighed AS (
  SELECT
    e.* REPLACE (
      -- Arguments move memory as their own sizes do.
      CASE
        WHEN e.change = 'optimiser' AND e.effect = 0 THEN sign(e.delta_bytes)
        ELSE e.effect
      END AS effect
    ),
    u.pair IS NOT NULL AS is_undivided, d.space_color, d.total_delta,
    d.direction,
    s.pair IS NOT NULL AS is_split, h.changed_count,
    NOT (
      e.edit_count > 1 OR p.has_other_inputs OR p.has_other_environment
    ) AS is_alone,
    NOT (p.has_other_inputs OR p.has_other_environment) AS is_source_alone,
    p.has_other_inputs
    AND NOT p.has_other_environment
    AND s.pair IS NOT NULL
    AND r.pair IS NULL
    AND abs(coalesce(o.input_bytes, 0)) < 0.1 * abs(d.total_delta)
      AS has_little_inputs,
    coalesce(h.share_bytes, 0) AS row_bytes,
    coalesce(abs(o.several_bytes) >= 0.01 * abs(d.total_delta), FALSE)
      AS has_several,
    coalesce(o.several_bytes, 0) AS several_bytes,
    e.change = 'output'
    AND (e.base_text IS NULL OR e.candidate_text IS NULL)
    AND abs(e.delta_bytes) < 0.01 * abs(d.total_delta) AS is_little_output,
    count_if(e.change IN ('gradients', 'loop', 'moved', 'recomputation'))
      OVER same_space > 0
    AND (
      e.change IN ('added', 'removed', 'replaced')
      OR e.change = 'output'
      AND e.base_text IS NOT NULL
      AND e.candidate_text IS NOT NULL
      AND abs(e.delta_bytes) < 0.01 * abs(d.total_delta)
    ) AS may_follow,
    e.change = 'constant'
    AND abs(e.delta_bytes) < 0.01 * abs(d.total_delta) AS is_little_constant,
    d.total_delta - coalesce(o.other_bytes, 0)
    - coalesce(sum(h.share_bytes) OVER same_space, 0) AS left_bytes,
    coalesce(h.is_of_own_memory, FALSE) AS has_own_memory,
    -- What may belong to it, or not to it.
    abs(left_bytes) + coalesce(
      sum(abs(h.share_bytes)) FILTER (WHERE NOT h.is_of_own_memory)
        OVER same_space
      - CASE WHEN has_own_memory THEN 0 ELSE abs(h.share_bytes) END, 0
    ) AS vague_bytes,
    has_own_memory
    OR coalesce(vague_bytes <= 0.1 * abs(h.share_bytes), FALSE) AS is_exact
  FROM edits AS e
  JOIN compiled_pairs AS p USING (pair)
  JOIN space_differences AS d USING (pair)
  LEFT JOIN split_pairs AS s USING (pair)
  LEFT JOIN shares AS h
    ON h.pair = e.pair
    AND h.space_color = d.space_color
    AND h.edit_place = e.place
  LEFT JOIN others AS o
    ON o.pair = e.pair
    AND o.space_color = d.space_color
  LEFT JOIN pairs_with_larger_inputs AS r ON r.pair = e.pair
  LEFT JOIN undivided_spaces AS u
    ON u.pair = e.pair
    AND u.space_color = d.space_color
  WINDOW same_space AS (PARTITION BY e.pair, d.space_color)
),
measured AS (
  SELECT
    w.*, count_if(
      (w.is_undivided OR NOT w.is_exact) AND NOT w.is_little_output
    ) OVER same_space AS vague_count,
    w.is_little_output
    AND w.is_split
    AND NOT w.is_undivided
    AND w.row_bytes * w.direction < 0.01 * abs(w.total_delta) AS is_unseen,
    w.total_delta - w.several_bytes - coalesce(
      sum(w.row_bytes) FILTER (WHERE w.is_exact) OVER same_space, 0
    ) AS rest_bytes
  FROM weighed AS w
  WINDOW same_space AS (PARTITION BY w.pair, w.space_color)
),
-- The bytes of an edit; NULL where they are not known.
counted AS (
  SELECT
    w.*,
    CASE
      WHEN w.is_unseen THEN NULL
      WHEN w.is_alone THEN w.total_delta
      WHEN NOT w.is_split THEN NULL
      WHEN w.is_exact THEN w.row_bytes
      WHEN w.is_source_alone
        AND NOT w.has_several
        AND NOT w.may_follow
        AND w.vague_count = 1
        AND w.effect * w.rest_bytes >= 0
        AND (
          w.row_bytes <> 0
          OR abs(w.rest_bytes) >= 0.05 * abs(w.total_delta)
        )
        THEN w.rest_bytes
    END AS own_bytes
  FROM measured AS w
),
judged AS (
  SELECT
    c.*,
    -- What is left for the edits whose bytes are not known, all together.
    c.total_delta - coalesce(sum(c.own_bytes) OVER same_space, 0)
      AS joint_bytes,
    coalesce(
      c.own_bytes <> 0
      AND (
        abs(c.own_bytes) >= 0.01 * abs(c.total_delta)
        OR c.has_own_memory AND abs(c.own_bytes) >= 1048576
      ), FALSE
    ) AS has_share,
    -- Rows show that memory followed from it, if not how much; unless what is
    -- left goes the other way, or its rule does and other inputs are a reason.
    c.row_bytes * c.direction > 0
    AND (c.is_source_alone OR c.effect * c.direction >= 0)
    AND joint_bytes * c.direction >= 0
    AND abs(c.row_bytes) >= 0.01 * abs(c.total_delta) AS has_rows,
    c.is_source_alone
    AND c.effect * c.direction > 0
    AND count_if(c.effect * c.direction >= 0) OVER same_space = 1
      AS is_left_over
  FROM counted AS c
  WINDOW same_space AS (PARTITION BY c.pair, c.space_color)
),
standings AS (
  SELECT
    j.* EXCLUDE (
      own_bytes, row_bytes, left_bytes, vague_bytes, vague_count, rest_bytes,
      several_bytes, is_little_constant, is_undivided
    ) REPLACE (
      CASE WHEN j.has_share OR j.has_rows THEN j.changed_count END
        AS changed_count
    ),
    CASE
      WHEN j.has_share OR j.is_alone AND NOT j.is_split THEN j.own_bytes
    END AS share_bytes,
    CASE
      WHEN j.direction = 0 OR j.is_alone THEN FALSE
      WHEN j.has_share THEN j.own_bytes * j.direction < 0
      WHEN j.has_rows THEN FALSE
      WHEN j.effect = 0 AND j.is_source_alone
        THEN j.joint_bytes * j.direction < 0
      ELSE j.effect * j.direction < 0
    END AS is_against,
    CASE
      WHEN j.is_unseen THEN NULL
      WHEN j.is_alone AND j.effect * j.direction < 0 THEN 'likely'
      WHEN j.has_share OR j.has_rows OR j.is_alone THEN 'proven'
      -- Where others have all of the difference, nothing is left for it.
      WHEN (
          j.is_mostly_right
          AND NOT (j.is_little_output OR j.is_little_constant)
          AND j.change NOT IN ('added', 'removed', 'replaced')
          OR j.is_left_over
        )
        AND (
          is_against
          OR j.direction * j.total_delta = 0
          OR j.direction * j.joint_bytes > 0
        )
        THEN 'likely'
    END AS standing
  FROM judged AS j
),
-- Where no edit is a claim of its own, few of them are one together.
led AS (
  SELECT
    s.*, (s.is_source_alone OR s.has_little_inputs)
    AND s.edit_count <= 3
    AND NOT s.is_unseen
    AND count(s.standing) OVER same_space = 0
    AND s.effect * s.direction >= 0
    AND s.delta_bytes * s.direction > 0
    AND 2 * abs(s.delta_bytes) > sum(abs(s.delta_bytes)) OVER same_space
      AS is_lead,
    -- A little output shows what another edit computes.
    count_if(NOT s.is_little_output) OVER same_space
    - CASE WHEN s.is_little_output THEN 0 ELSE 1 END AS other_count,
    s.is_little_output
    AND count(s.standing) FILTER (
      WHERE NOT s.is_little_output AND NOT s.is_against
    ) OVER same_space > 0
    -- Loops, checkpoints and gradients bring operations and outputs with them.
    OR s.may_follow
    AND s.share_bytes IS NULL
    AND count(s.standing) FILTER (
      WHERE s.change IN ('gradients', 'loop', 'moved', 'recomputation')
    ) OVER same_space > 0 AS is_needless
  FROM standings AS s
  WINDOW same_space AS (PARTITION BY s.pair, s.space_color)
)
SELECT
  l.* EXCLUDE (
    is_lead, other_count, is_needless, has_little_inputs, may_follow
  ) REPLACE (
    CASE
      WHEN l.is_lead AND NOT l.has_little_inputs THEN l.total_delta
      WHEN l.is_lead THEN NULL
      WHEN NOT l.is_needless THEN l.share_bytes
    END AS share_bytes,
    CASE
      WHEN l.is_lead AND l.has_little_inputs THEN 'likely'
      WHEN l.is_lead THEN 'proven'
      WHEN NOT l.is_needless THEN l.standing
    END AS standing
  ),
  CASE
    WHEN NOT coalesce(l.is_lead, FALSE) OR l.other_count = 0 THEN ''
    WHEN l.other_count = 1 THEN '; 1 more place differs'
    ELSE format('; {} more places differ', l.other_count)
  END AS words_of_others
FROM led AS l
