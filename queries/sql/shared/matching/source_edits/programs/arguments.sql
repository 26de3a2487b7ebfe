-- step: The arguments of the programs, called as the framework calls them.
-- grain: pair, side, argument
SELECT
  i.pair, i.is_candidate, f.parameter_number AS number,
  coalesce(nullif(replace(f.op_name, '\''', ''''), ''),
    'parameter ' || f.parameter_number) AS argument,
  f.element_type, f.dims, f.sharding, f.logical_bytes
FROM program_instructions AS i
JOIN forms AS f USING (form_id)
WHERE i.is_entry
  AND f.opcode = 'parameter'
