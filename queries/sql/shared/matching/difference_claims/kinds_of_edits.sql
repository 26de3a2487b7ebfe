-- step: What the kind of a change says, whatever the path: an alias is of a
--   donation, a result of an output, an array with the shape of a stack, or of
--   the part of it that a device has, of that, and of an edit that made it as
--   large as it is: another shape, or another number of steps whose results it
--   stacks. An array with a part for each step is of a loop that the backward
--   pass newly runs, or no longer.
--   The inputs are nobody's edit: place 0. Other types of these resize
--   nothing. Where all of them have the types of before, and an edit is of
--   types, buffers of another type follow from that.
-- grain: pair, memory space, row of buffer_changes, edit
WITH partitioned_pairs AS (
  SELECT
    p.pair, bool_or(s.num_partitions > 1) AS is_partitioned
  FROM split_pairs AS p
  JOIN store.snapshots AS s ON s.module_id = p.own_id
  GROUP BY p.pair
),
resized_inputs AS (
  SELECT DISTINCT pair
  FROM changed_buffers
  WHERE parameter IS NOT NULL
    AND part NOT IN ('alias', 'retyped')
),
types_of_edits AS (
  SELECT DISTINCT e.pair
  FROM edits AS e
  ANTI JOIN changed_buffers AS c
    ON c.pair = e.pair
    AND c.parameter IS NOT NULL
    AND c.part = 'retyped'
  WHERE e.change = 'retyped'
)
SELECT c.pair, c.space_color, c.number, e.place
FROM (
  SELECT *, coalesce(candidate_type, base_type) AS array_type
  FROM changed_buffers
) AS c
JOIN edits AS e USING (pair)
JOIN partitioned_pairs AS p USING (pair)
LEFT JOIN results_of_outputs AS r USING (pair, space_color, number)
WHERE CASE e.change
  WHEN 'donation' THEN c.part = 'alias'
  WHEN 'constant' THEN c.opcode = 'constant' OR c.kind = 'constant'
  WHEN 'output'
    THEN (
      c.part = 'allocation_kind'
      OR c.kind = 'live_out' AND c.part IN ('new', 'gone')
    )
    AND coalesce(r.place, e.place) = e.place
  -- What a loop stacks for its backward pass.
  WHEN 'loop'
    THEN c.part IN ('new', 'gone')
    AND c.opcode = 'while'
    AND starts_with(
      regexp_extract(c.array_type, '\[.*'),
      CASE 'no gradients'
        WHEN e.base_text THEN '[' || e.candidate_text || ','
        WHEN e.candidate_text THEN '[' || e.base_text || ','
      END
    )
  WHEN 'stack'
    THEN c.part IN ('new', 'gone')
    AND len(list_filter(
      string_split(coalesce(e.base_text, e.candidate_text), ', '),
      lambda x: x = c.array_type
      -- A device has a part of it, but of every step.
      OR p.is_partitioned
      AND regexp_extract(x, '^\w+\[\d+,')
        = regexp_extract(c.array_type, '^\w+\[\d+,')
      AND len(regexp_extract_all(x, '\d+'))
        = len(regexp_extract_all(c.array_type, '\d+'))
      AND len(list_filter(
        list_zip(
          regexp_extract_all(x, '\d+'),
          regexp_extract_all(c.array_type, '\d+')
        ),
        lambda d: CAST(d[1] AS BIGINT) % greatest(CAST(d[2] AS BIGINT), 1) > 0
      )) = 0
    )) > 0
END
UNION ALL
SELECT DISTINCT c.pair, c.space_color, c.number, e.place
FROM changed_buffers AS c
SEMI JOIN edits AS o
  ON o.pair = c.pair
  AND o.change = 'output'
JOIN edits AS e
  ON e.pair = c.pair
  AND CASE e.change
    WHEN 'reshaped' THEN e.candidate_text = c.candidate_type
    WHEN 'batched' THEN e.candidate_text = c.candidate_type
    WHEN 'loop'
      THEN e.base_text IS NOT NULL
      AND starts_with(
        regexp_extract(c.candidate_type, '\[.*'),
        '[' || e.candidate_text || ','
      )
  END
WHERE c.kind = 'live_out'
  AND c.part IN ('new', 'allocation_kind')
UNION ALL
SELECT c.pair, c.space_color, c.number, 0
FROM changed_buffers AS c
JOIN split_pairs AS p USING (pair)
WHERE p.has_other_inputs
  AND (
    c.part = 'repadded'
    OR c.part = 'retyped'
    AND c.pair NOT IN (SELECT t.pair FROM types_of_edits AS t)
    OR c.part = 'resized'
    AND c.pair IN (SELECT r.pair FROM resized_inputs AS r)
    OR c.parameter IS NOT NULL AND c.part <> 'alias'
  )
