-- Rows of `incoming` whose key is new get the next numbers; numbered_table, its_number
-- and its_key stand for names.
INSERT INTO numbered_table BY NAME
SELECT
  (SELECT coalesce(max(its_number), 0) FROM numbered_table)
    + row_number() OVER () AS its_number,
  *
FROM (SELECT DISTINCT ON (its_key) * FROM incoming)
WHERE its_key NOT IN (SELECT its_key FROM numbered_table)
