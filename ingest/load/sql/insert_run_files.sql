-- Files of `incoming`, their keys turned into numbers.
INSERT INTO store.run_files BY NAME
SELECT i.run_id, f.file_id, i.status
FROM incoming AS i
JOIN store.files AS f USING (file_key)
