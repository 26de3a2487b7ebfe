-- Evidence about files of `incoming` whose bytes were read before, in another run or
-- under another path; evidence_table stands for each of its tables.
INSERT INTO evidence_table BY NAME
WITH given AS MATERIALIZED (FROM incoming)
SELECT e.* REPLACE (i.run_id AS run_id, i.path AS path)
FROM given AS i
JOIN (
  SELECT DISTINCT ON (d.sha256, d.kind) d.sha256, d.kind, d.run_id, d.path
  FROM dump_files AS d
  SEMI JOIN evidence_table AS o
    ON o.run_id = d.run_id
    AND o.path = d.path
  WHERE d.sha256 IN (SELECT sha256 FROM given)
  ORDER BY d.sha256, d.kind, d.run_id, d.path
) AS f USING (sha256, kind)
JOIN evidence_table AS e
  ON e.run_id = f.run_id
  AND e.path = f.path
