-- step: The two runs, and whether they may be of one device.
-- grain: pair of runs
SELECT
  p.*, s.may_be_same OR NOT $follow AS is_same_device
FROM selected_pair(base := $base, candidate := $candidate) AS p
JOIN runs AS b ON b.run_id = p.base_run_id
JOIN runs AS c ON c.run_id = p.candidate_run_id,
LATERAL (
  SELECT d.may_be_same FROM same_device(one := b.device, other := c.device)
    AS d
) AS s
