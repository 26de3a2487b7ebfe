-- step: Groups of a function that both sides have, and none edited: it is
--   called once more, or once less, by what another group is of.
-- grain: pair, group
SELECT g.pair, g.rank
FROM ranked_groups AS g
SEMI JOIN untouched_functions AS f
  ON f.pair = g.pair
  AND f.file_name = g.source_file
  AND f.function_name = g.function_name
SEMI JOIN ranked_groups AS o
  ON o.pair = g.pair
  AND o.change IN (g.change, 'replaced')
  AND o.operation_count > g.operation_count
WHERE g.change IN ('added', 'removed')
