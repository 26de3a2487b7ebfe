-- title: Scoped memory of TPU operations
-- question: Which part of VMEM does an operation reserve for itself while it
--   runs?
-- definition: scoped_memory_configs of scheduled instructions, as the compiler
--   sets them for kernels (vmem_limit_bytes of Pallas): scoped_bytes of the
--   memory space from offset_bytes on. No value lies there while the operation
--   runs, and no buffer assignment mentions it.
-- grain: module content, instruction
-- param run
-- param program
-- column module_id
-- column color
-- column instruction_id
-- column opcode
-- column schedule_step INTEGER step neutral: The step at which it runs.
-- column offset_bytes BIGINT bytes neutral: Offset of its scoped memory.
-- column scoped_bytes BIGINT bytes lower_is_better: VMEM that the operation
--   reserves for itself.
WITH named AS MATERIALIZED (
  -- Fixed before they meet their forms: else those of all modules do.
  SELECT i.module_id, i.instruction_id, i.schedule_step, i.form_id
  FROM final_contents() AS m
  JOIN store.instructions AS i USING (module_id)
  WHERE i.schedule_step IS NOT NULL
),
said AS (
  SELECT
    n.module_id, n.instruction_id, f.opcode, n.schedule_step,
    regexp_extract(
      f.backend_config,
      '"scoped_memory_configs": ?\[\{"memory_space": ?"?([0-9]+)"?, ?'
        || '"offset": ?"?([0-9]+)"?, ?"size": ?"?([0-9]+)',
      ['space', 'start', 'size']
    ) AS config
  FROM named AS n
  JOIN store.instruction_forms AS f USING (form_id)
  WHERE f.backend_config LIKE '%"scoped\_memory\_configs"%' ESCAPE '\'
)
SELECT
  s.module_id, TRY_CAST(s.config.space AS INTEGER) AS color, s.instruction_id,
  s.opcode, s.schedule_step,
  TRY_CAST(s.config.start AS BIGINT) AS offset_bytes,
  TRY_CAST(s.config.size AS BIGINT) AS scoped_bytes
FROM said AS s
WHERE TRY_CAST(s.config.size AS BIGINT) > 0
  AND s.config.space = '1'
