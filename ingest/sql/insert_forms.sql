-- New instruction forms of `incoming` get the next numbers.
INSERT INTO store.instruction_forms BY NAME
SELECT
  (SELECT coalesce(max(form_id), 0) FROM store.instruction_forms)
    + row_number() OVER () AS form_id,
  *
FROM (SELECT DISTINCT ON (form_key) * FROM incoming)
WHERE form_key NOT IN (SELECT form_key FROM store.instruction_forms)
