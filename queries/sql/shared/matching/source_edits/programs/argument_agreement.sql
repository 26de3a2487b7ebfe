-- step: What the arguments of both sides have in common. Where they are of
--   other sizes or types, so is most of the program, without an edit.
-- grain: pair with arguments
SELECT
  g.pair,
  list_sort(list(g.dims) FILTER (WHERE g.is_candidate)) IS NOT DISTINCT FROM
    list_sort(list(g.dims) FILTER (WHERE NOT g.is_candidate))
    AS has_same_sizes,
  list_sort(list(g.element_type) FILTER (WHERE g.is_candidate))
    IS NOT DISTINCT FROM
    list_sort(list(g.element_type) FILTER (WHERE NOT g.is_candidate))
    AS has_same_types,
  count_if(g.is_candidate) = count_if(NOT g.is_candidate) AS has_same_count
FROM arguments AS g
GROUP BY g.pair
