-- step: What a dimension of the greatest size is in the next one, the least
--   where several are: what grows should not be taken for what stays.
-- grain: model, dimension
SELECT p.model, p.greatest_size, min(p.lesser_size) AS lesser_size
FROM (
  SELECT
    model, unnest(sizes) AS greatest_size,
    unnest(lesser_sizes) AS lesser_size
  FROM paired_values
  WHERE lesser_sizes IS NOT NULL
) AS p
WHERE p.greatest_size IS NOT NULL
GROUP BY p.model, p.greatest_size
