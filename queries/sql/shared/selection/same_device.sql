-- title: Whether two runs may be of the same device
-- question: Does nothing say that two runs are of different devices?
-- definition: Devices that are equal, or of which one is not known. Older
--   releases dump a GPU's capability alone (sm_9.0, since 2025-05 sm_9.0a, or
--   gfx90a): it may be any device with a name, and NVIDIA's letter tells of
--   code, not of GPUs.
-- grain: pair of devices (one row)
-- param one VARCHAR = NULL: Device of a run.
-- param other VARCHAR = NULL: Device of the other.
-- column may_be_same BOOLEAN flag neutral: Whether they may be the same.
WITH capabilities AS (
  SELECT
    CASE
      WHEN regexp_full_match($one, 'sm_\d+\.\d+[a-z]?')
        THEN regexp_extract($one, 'sm_\d+\.\d+')
      WHEN regexp_full_match($one, 'gfx[0-9a-z]+') THEN $one
    END AS first_capability,
    CASE
      WHEN regexp_full_match($other, 'sm_\d+\.\d+[a-z]?')
        THEN regexp_extract($other, 'sm_\d+\.\d+')
      WHEN regexp_full_match($other, 'gfx[0-9a-z]+') THEN $other
    END AS second_capability
)
SELECT
  coalesce($one = $other, TRUE)
  OR (c.first_capability IS NULL) <> (c.second_capability IS NULL)
  OR coalesce(c.first_capability = c.second_capability, FALSE) AS may_be_same
FROM capabilities AS c
