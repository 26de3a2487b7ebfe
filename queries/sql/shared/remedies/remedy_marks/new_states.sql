-- step: Dimensions of results that are new weights and state: those of the
--   old ones, or of parts or multiples of them in programs for several
--   devices. is_kept: in a program with a backward pass, or of an argument
--   that is named like weights, state or a cache; what a loop collects of
--   other arguments, such as images, may be a result that nobody reads.
-- grain: module content, dimensions
WITH states AS MATERIALIZED (
  SELECT
    a.module_id, a.dimensions, string_split(a.dimensions, ',') AS sizes,
    coalesce(t.has_backward, FALSE)
      OR coalesce(bool_or(regexp_matches(a.name, r.name_pattern)), FALSE)
      AS is_kept
  FROM arguments AS a
  LEFT JOIN program_traits AS t USING (module_id)
  LEFT JOIN role_rules() AS r
    ON r.kind = 'parameter'
    AND r.name_pattern IS NOT NULL
  WHERE NOT a.is_input
    AND a.dimensions LIKE '%,%'
  GROUP BY a.module_id, a.allocation_id, a.dimensions, t.has_backward
),
divided AS MATERIALIZED (
  SELECT DISTINCT m.module_id FROM modules AS m WHERE m.num_partitions > 1
)
SELECT r.module_id, r.dimensions, bool_or(s.is_kept) AS is_kept
FROM (SELECT DISTINCT module_id, dimensions FROM returned_arrays) AS r
JOIN states AS s USING (module_id)
WHERE s.dimensions = r.dimensions
  OR (
    r.module_id IN (SELECT d.module_id FROM divided AS d)
    AND len(s.sizes) = len(string_split(r.dimensions, ','))
    AND list_bool_and(list_transform(
      list_zip(s.sizes, string_split(r.dimensions, ',')),
      lambda pair: greatest(CAST(pair[1] AS BIGINT), CAST(pair[2] AS BIGINT))
        % greatest(1, least(
          CAST(pair[1] AS BIGINT), CAST(pair[2] AS BIGINT)
        )) = 0
    ))
  )
GROUP BY r.module_id, r.dimensions
