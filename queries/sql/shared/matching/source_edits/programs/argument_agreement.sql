-- step: What the arguments of both sides have in common. Where they are of
--   other sizes or types, so is most of the program, without an edit; not
--   where one side only has more of them (has_only_more). other_dims: the
--   dimensions of those that are not as often on both sides.
-- grain: pair with arguments
WITH counted AS (
  SELECT
    g.pair, g.dims, g.element_type,
    count_if(g.is_candidate) - count_if(NOT g.is_candidate) AS more
  FROM arguments AS g
  GROUP BY g.pair, g.dims, g.element_type
)
SELECT
  pair,
  bool_and(more_of_size >= 0) OR bool_and(more_of_size <= 0) AS has_same_sizes,
  bool_and(more_of_type >= 0) OR bool_and(more_of_type <= 0) AS has_same_types,
  sum(more) = 0 AS has_same_count,
  bool_and(more >= 0) OR bool_and(more <= 0) AS has_only_more,
  list(DISTINCT dims) FILTER (WHERE more <> 0) AS other_dims
FROM (
  SELECT
    c.*, sum(c.more) OVER (PARTITION BY c.pair, c.dims) AS more_of_size,
    sum(c.more) OVER (PARTITION BY c.pair, c.element_type) AS more_of_type
  FROM counted AS c
)
GROUP BY pair
