-- step: The line at which what comes from a frame was edited: the outermost
--   call that less than half of the program comes from, four of five of whose
--   operations are unmatched, and that is one of added_calls or leads through
--   no function which was edited itself; else the innermost line of the user,
--   but for one of a function that other lines call as well, with operations
--   that all match: what differs is the call. So it is where the other side
--   has what comes from a function at a call of it. callee: the user's
--   function that is called at that line. is_added: it is an added call.
-- grain: pair, side, frame
WITH frame_counts AS (
  SELECT
    o.pair, o.is_candidate, o.frame_id, count(*) AS operation_count,
    count(u.instruction_id) AS unmatched_count
  FROM operations AS o
  LEFT JOIN unmatched_operations AS u
    USING (pair, is_candidate, instruction_id)
  WHERE o.is_located
    AND o.opcode <> 'get-tuple-element'
  GROUP BY o.pair, o.is_candidate, o.frame_id
),
site_counts AS (
  SELECT
    pair, is_candidate, site, sum(operation_count) AS operation_count,
    sum(unmatched_count) AS unmatched_count
  FROM (
    SELECT DISTINCT
      c.pair, c.is_candidate, c.site, n.frame_id, n.operation_count,
      n.unmatched_count
    FROM call_sites AS c
    JOIN frame_counts AS n USING (pair, is_candidate, frame_id)
  )
  GROUP BY pair, is_candidate, site
),
calls AS (
  SELECT
    c.pair, c.is_candidate, c.site, n.operation_count, n.unmatched_count,
    lead(c.site) OVER (
      PARTITION BY c.pair, c.is_candidate, c.frame_id ORDER BY c.distance
    ) AS caller_site
  FROM call_sites AS c
  JOIN frame_counts AS n USING (pair, is_candidate, frame_id)
),
-- Lines of functions that are called where nothing differs, too.
shared_sites AS (
  SELECT pair, is_candidate, site
  FROM (
    SELECT
      pair, is_candidate, site, caller_site,
      sum(unmatched_count) AS unmatched_count
    FROM calls
    WHERE caller_site IS NOT NULL
    GROUP BY ALL
  )
  GROUP BY pair, is_candidate, site
  HAVING bool_or(unmatched_count = 0) AND bool_or(unmatched_count > 0)
),
callers AS (
  SELECT
    c.pair, c.is_candidate, c.frame_id, c.site, c.distance, c.file_name,
    c.function_name,
    struct_pack(
      source_file := c.file_name, function_name := c.function_name,
      line := c.line, callee := lag(c.function_name) OVER (
        PARTITION BY c.pair, c.is_candidate, c.frame_id ORDER BY c.distance
      ), distance := c.distance, is_added := a.site IS NOT NULL
    ) AS place,
    coalesce(bool_or(e.pair IS NOT NULL) OVER (
      PARTITION BY c.pair, c.is_candidate, c.frame_id
      ORDER BY c.distance
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), FALSE) AS is_edited_below
  FROM call_sites AS c
  LEFT JOIN edited_functions AS e USING (pair, file_name, function_name)
  LEFT JOIN added_calls AS a USING (pair, is_candidate, site)
),
program_counts AS (
  SELECT pair, is_candidate, sum(operation_count) AS operation_count
  FROM frame_counts
  GROUP BY pair, is_candidate
),
chosen AS (
  SELECT
    c.pair, c.is_candidate, c.frame_id,
    arg_max(
      c.place,
      CASE
        WHEN s.unmatched_count >= 0.8 * s.operation_count
          AND s.operation_count < 0.5 * p.operation_count
          AND (c.place.is_added OR NOT c.is_edited_below)
          THEN c.distance
        WHEN h.site IS NULL THEN -1 - c.distance
        ELSE -1000 - c.distance
      END
    ) AS place
  FROM callers AS c
  JOIN site_counts AS s USING (pair, is_candidate, site)
  JOIN program_counts AS p USING (pair, is_candidate)
  LEFT JOIN shared_sites AS h USING (pair, is_candidate, site)
  GROUP BY c.pair, c.is_candidate, c.frame_id
),
-- Functions that nobody edited, and the edited one that calls them.
called_otherwise AS (
  SELECT DISTINCT
    o.pair, o.is_candidate, c.file_name, c.function_name,
    o.place.source_file AS caller_file, o.place.function_name AS caller
  FROM chosen AS o
  JOIN callers AS c USING (pair, is_candidate, frame_id)
  SEMI JOIN edited_functions AS e
    ON e.pair = o.pair
    AND e.file_name = o.place.source_file
    AND e.function_name = o.place.function_name
  ANTI JOIN edited_functions AS n
    ON n.pair = c.pair
    AND n.file_name = c.file_name
    AND n.function_name = c.function_name
  WHERE c.distance < o.place.distance
),
lifted AS (
  SELECT
    o.pair, o.is_candidate, o.frame_id,
    arg_min(c.place, c.distance) AS place
  FROM chosen AS o
  JOIN called_otherwise AS w
    ON w.pair = o.pair
    AND w.is_candidate <> o.is_candidate
    AND w.file_name = o.place.source_file
    AND w.function_name = o.place.function_name
  JOIN callers AS c
    ON c.pair = o.pair
    AND c.is_candidate = o.is_candidate
    AND c.frame_id = o.frame_id
    AND c.file_name = w.caller_file
    AND c.function_name = w.caller
    AND c.distance > o.place.distance
  GROUP BY o.pair, o.is_candidate, o.frame_id
)
SELECT
  o.pair, o.is_candidate, o.frame_id, o.source_file,
  coalesce(r.candidate_function, o.function_name) AS function_name,
  o.line, o.callee, o.distance, o.is_added
FROM (
  SELECT
    o.pair, o.is_candidate, o.frame_id, unnest(coalesce(l.place, o.place))
  FROM chosen AS o
  LEFT JOIN lifted AS l USING (pair, is_candidate, frame_id)
) AS o
LEFT JOIN renamed_functions AS r
  ON r.pair = o.pair
  AND NOT o.is_candidate
  AND r.file_name = o.source_file
  AND r.function_name = o.function_name
