-- Instructions and their forms. A configuration has its own framework paths, as they
-- begin with the name of the program; an edit moves a tenth of a module's instructions
-- into another scope.
CREATE TABLE plan.windows AS
SELECT
  c.content, c.module_id, c.seed_module_id, c.config, c.edit,
  CASE WHEN c.edit > 0
    THEN CAST(0.9 * m.instruction_count * draw('window ' || c.module_id) AS INTEGER)
  END AS first_instruction,
  m.instruction_count // 10 + 1 AS instruction_count
FROM plan.contents AS c
JOIN (
  SELECT module_id, max(instruction_id) AS instruction_count
  FROM seed.store.instructions
  GROUP BY module_id
) AS m ON m.module_id = c.seed_module_id;

CREATE TABLE plan.instructions AS
SELECT
  w.content, w.module_id, i.* EXCLUDE (module_id, form_id), f.form_id AS seed_form_id,
  CASE WHEN f.op_name LIKE 'jit(%' THEN w.config ELSE 0 END AS config,
  CASE
    WHEN f.op_name IS NOT NULL
      AND i.instruction_id >= w.first_instruction
      AND i.instruction_id < w.first_instruction + w.instruction_count
    THEN w.edit
    ELSE 0
  END AS edit
FROM plan.windows AS w
JOIN seed.store.instructions AS i ON i.module_id = w.seed_module_id
JOIN seed.store.instruction_forms AS f USING (form_id);

CREATE TABLE plan.forms AS
SELECT
  row_number() OVER (ORDER BY first_content, seed_form_id) AS form_id,
  seed_form_id, config, edit
FROM (
  SELECT min(content) AS first_content, seed_form_id, config, edit
  FROM plan.instructions
  GROUP BY seed_form_id, config, edit
);

INSERT INTO store.instruction_forms BY NAME
SELECT
  f.* REPLACE (
    p.form_id AS form_id,
    CASE WHEN p.config + p.edit > 0
      THEN digest(concat_ws(' ', f.form_key, p.config, p.edit)) ELSE f.form_key
    END AS form_key,
    concat(
      CASE WHEN p.config > 0
        THEN regexp_replace(f.op_name, '^jit\(([^)]*)\)', 'jit(\1_b' || p.config || ')')
        ELSE f.op_name
      END,
      CASE WHEN p.edit > 0 THEN '/edit_' || p.edit END
    ) AS op_name
  )
FROM plan.forms AS p
JOIN seed.store.instruction_forms AS f ON f.form_id = p.seed_form_id
ORDER BY p.form_id;

UPDATE store.instruction_forms SET op_name = NULL WHERE op_name = '';

INSERT INTO store.instructions BY NAME
SELECT i.* EXCLUDE (content, seed_form_id, config, edit), f.form_id
FROM plan.instructions AS i
JOIN plan.forms AS f USING (seed_form_id, config, edit)
ORDER BY i.content, i.instruction_id;

DROP TABLE plan.instructions;
