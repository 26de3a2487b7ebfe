-- step: Arguments and results that could share memory and do not, with the
--   last use of the argument.
-- grain: argument, result
SELECT d.*, u.last_use_step
FROM missed_donations() AS d
LEFT JOIN argument_last_uses() AS u
  ON u.module_id = d.module_id
  AND u.allocation_id = d.parameter_id
