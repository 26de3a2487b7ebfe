-- title: Whether two devices may be the same
-- question: May two runs be of the same device?
-- definition: True if the devices are equal or one is unknown. Older releases
--   dump only a GPU's capability (sm_9.0, since 2025-05 sm_9.0a, or gfx90a):
--   it matches any GPU with a name; NVIDIA's letter describes code, not GPUs.
-- grain: pair of devices (one row)
-- param one VARCHAR = NULL: Device of a run.
-- param other VARCHAR = NULL: Device of the other.
-- column may_be_same BOOLEAN flag neutral: Whether the devices may be the
--   same.
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
