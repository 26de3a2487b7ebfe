-- Modules of `incoming`, their keys turned into numbers.
INSERT INTO store.occurrences BY NAME
SELECT i.run_id, p.path_id, s.snapshot_id
FROM incoming AS i
JOIN store.paths AS p USING (path_key)
JOIN store.snapshots AS s USING (snapshot_key)
