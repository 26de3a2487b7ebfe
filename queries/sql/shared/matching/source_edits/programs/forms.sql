-- step: What instructions of one form have in common; releases print one
--   sharding in different ways.
-- grain: form
SELECT
  f.form_id, f.opcode,
  -- JAX calls all transforms fft.
  CASE
    WHEN f.opcode = 'fft'
      THEN regexp_replace(
        f.op_name, '(^|/)fft$',
        '\1' || lower(regexp_extract(f.attributes, 'fft_type=(\w+)', 1))
      )
    ELSE f.op_name
  END AS op_name, f.element_type,
  regexp_extract(f.shape, '\[[^\]]*\]') AS dims,
  regexp_replace(f.shape, '\{[^}]*\}', '', 'g') AS shape,
  coalesce(s.split, f.sharding) AS sharding,
  f.custom_call_target AS target, f.parameter_number, f.logical_bytes,
  f.literal,
  CASE
    WHEN f.opcode = 'compare'
      THEN regexp_extract(f.attributes, 'direction=(\w+)', 1)
  END AS direction,
  CASE
    WHEN f.opcode = 'get-tuple-element'
      THEN TRY_CAST(regexp_extract(f.attributes, 'index=(\d+)', 1) AS BIGINT)
  END AS tuple_index
FROM (SELECT DISTINCT form_id FROM program_instructions)
JOIN store.instruction_forms AS f USING (form_id)
LEFT JOIN sharding_splits() AS s USING (sharding)
