-- title: Values that the forward pass saves for the backward pass
-- question: Which temporary values are made forward and last read backward,
--   and between which steps does nobody read them?
-- definition: Values of value_phases made forward and last read backward, and
--   those that follow one another in the same bytes: a loop that fills an
--   array has one for each form that the array has on its way. What XLA itself
--   recomputes (.remat in the name of its instruction) is not saved. The
--   longest gap between two accesses is from idle_from_step to
--   idle_until_step; NULL for what a loop fills.
-- grain: module content, value
-- param run
-- param program
-- column module_id
-- column value_id
-- column idle_from_step INTEGER step neutral: First step of the gap.
-- column idle_until_step INTEGER step neutral: Last step of the gap.
WITH placed AS MATERIALIZED (
  SELECT * FROM value_places()
),
recomputed AS MATERIALIZED (
  SELECT i.module_id, i.instruction_id
  FROM selected_contents() AS c
  JOIN store.instructions AS i USING (module_id)
  WHERE regexp_matches(i.name, '\.remat[0-9]*(\.|$)')
),
followed AS (
  SELECT
    v.*, r.instruction_id IS NOT NULL AS is_recomputed,
    coalesce(v.start_step > max(v.end_step) OVER (
      PARTITION BY
        v.module_id, v.allocation_id, v.offset_bytes, v.size_bytes
      ORDER BY v.start_step, v.end_step, v.value_id
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), TRUE) AS is_first
  FROM placed AS v
  LEFT JOIN recomputed AS r
    ON r.module_id = v.module_id
    AND r.instruction_id = v.instruction_id
  WHERE v.kind = 'temp'
    AND v.start_step IS NOT NULL
),
chains AS (
  SELECT
    v.*,
    sum(CAST(v.is_first AS INTEGER)) OVER (
      PARTITION BY
        v.module_id, v.allocation_id, v.offset_bytes, v.size_bytes
      ORDER BY v.start_step, v.end_step, v.value_id
    ) AS chain
  FROM followed AS v
),
linked AS MATERIALIZED (
  SELECT
    c.module_id, c.value_id, c.start_step, c.end_step,
    NOT c.is_recomputed AND bool_or(
      p.made_in = 'forward'
      AND p.last_read_in = 'backward'
      AND NOT c.is_recomputed
    ) OVER same_chain AS is_saved,
    count(*) OVER same_chain AS chain_length
  FROM chains AS c
  JOIN value_phases() AS p
    ON p.module_id = c.module_id
    AND p.value_id = c.value_id
  WINDOW same_chain AS (
    PARTITION BY
      c.module_id, c.allocation_id, c.offset_bytes, c.size_bytes, c.chain
  )
),
saved AS MATERIALIZED (
  SELECT *
  FROM linked
  WHERE is_saved
),
readers AS MATERIALIZED (
  SELECT s.module_id, s.value_id, u.instruction_id
  FROM saved AS s
  JOIN store.value_uses AS u USING (module_id, value_id)
  WHERE s.chain_length = 1
),
scheduled AS MATERIALIZED (
  SELECT i.module_id, i.instruction_id, i.schedule_step
  FROM selected_contents() AS c
  JOIN store.instructions AS i USING (module_id)
),
touches AS (
  SELECT module_id, value_id, start_step AS step
  FROM saved
  WHERE chain_length = 1
  UNION
  SELECT r.module_id, r.value_id, i.schedule_step
  FROM readers AS r
  JOIN scheduled AS i USING (module_id, instruction_id)
  WHERE i.schedule_step IS NOT NULL
),
gaps AS (
  SELECT
    module_id, value_id, step + 1 AS from_step,
    lead(step) OVER (PARTITION BY module_id, value_id ORDER BY step) - 1
      AS until_step
  FROM touches
),
longest AS (
  SELECT
    module_id, value_id,
    arg_max(from_step, (until_step - from_step, -from_step)) AS from_step,
    arg_max(until_step, (until_step - from_step, -from_step)) AS until_step
  FROM gaps
  WHERE until_step >= from_step
  GROUP BY module_id, value_id
)
SELECT
  s.module_id, s.value_id, l.from_step AS idle_from_step,
  l.until_step AS idle_until_step
FROM saved AS s
LEFT JOIN longest AS l USING (module_id, value_id)
