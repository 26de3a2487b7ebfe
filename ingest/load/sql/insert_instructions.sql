-- Instructions of `incoming`, their form's key turned into its number.
INSERT INTO store.instructions BY NAME
SELECT i.* EXCLUDE (form_key), f.form_id
FROM incoming AS i
JOIN store.instruction_forms AS f USING (form_key)
