-- step: Instructions of fusions with their layouts.
-- grain: fusion, instruction
SELECT
  i.*, l.sizes, l.places, l.tile, l.is_row_major,
  list_transform(
    regexp_extract_all(
      regexp_extract(i.attributes, 'dimensions=\{([0-9,]*)\}', 1), '[0-9]+'
    ), lambda x: CAST(x AS BIGINT)
  ) AS from_places
FROM fused_instructions AS i
LEFT JOIN layouts AS l USING (shape)
