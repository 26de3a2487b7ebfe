-- step: Groups of other shapes that have that of an array which is joined or
--   cut on one side alone: they belong to that.
-- grain: pair, group
SELECT g.pair, g.rank, min(m.rank) AS maker_rank
FROM ranked_groups AS g
JOIN (
  SELECT r.pair, r.rank, o.is_candidate, o.shape
  FROM ranked_groups AS r
  JOIN grouped_operations AS o USING (pair, source_file, function_name)
  ANTI JOIN unmatched_operations AS u
    ON u.pair = o.pair
    AND u.is_candidate <> o.is_candidate
    AND u.key = o.key
  WHERE r.change IN ('added', 'removed', 'replaced')
    AND o.operation IN ('concatenate', 'pad', 'slice', 'dynamic_slice')
    AND NOT o.is_backward
) AS m
  ON m.pair = g.pair
  AND (
    g.is_filled
    OR m.shape = CASE
      WHEN m.is_candidate THEN g.candidate_text ELSE g.base_text
    END
  )
WHERE g.change = 'reshaped'
GROUP BY g.pair, g.rank
