-- step: These parts, each with its place among those of its side that have the
--   same parameters.
-- grain: pair, side, part
SELECT
  *, row_number() OVER (
    PARTITION BY base_id, own_id, is_own, head, contents
    ORDER BY CAST(part AS INTEGER)
  ) AS ordinal
FROM (
  SELECT
    base_id, own_id, is_own, head, part,
    hash(list_sort(list(tail))) AS contents
  FROM numbered_parameters
  GROUP BY base_id, own_id, is_own, head, part
)
