-- step: The first dimension of most arrays of two dimensions or more that a
--   program computes with, arguments apart: that of a batch, where it is one
--   of an argument.
-- grain: program
SELECT
  s.module_id, arg_max(s.size, (s.instruction_count, s.size)) AS size
FROM (
  SELECT
    i.module_id,
    CAST(regexp_extract(f.shape, '^\w+\[(\d+),', 1) AS BIGINT) AS size,
    count(*) AS instruction_count
  FROM asked_contents AS m
  JOIN store.instructions AS i USING (module_id)
  JOIN store.instruction_forms AS f USING (form_id)
  WHERE f.opcode <> 'parameter'
    AND regexp_matches(f.shape, '^\w+\[\d+,')
  GROUP BY ALL
) AS s
GROUP BY s.module_id
