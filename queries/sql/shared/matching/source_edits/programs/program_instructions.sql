-- step: The instructions of the programs.
-- grain: pair, side, instruction
SELECT
  p.pair, p.is_candidate, i.instruction_id, i.computation_id, i.form_id,
  i.is_root, i.computation_id = p.entry_id AS is_entry
FROM programs AS p
JOIN store.instructions AS i USING (module_id)
