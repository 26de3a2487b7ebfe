-- Modules with parts that shard_map divides by hand: their shapes are those of one
-- device.
SELECT DISTINCT i.module_id
FROM store.instructions AS i
JOIN store.instruction_forms AS f USING (form_id)
WHERE list_contains(from_json($modules, '["BIGINT"]'), i.module_id)
  AND contains(f.op_name, 'shard_map')
