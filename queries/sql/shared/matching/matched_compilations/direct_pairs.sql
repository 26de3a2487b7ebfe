-- step: Matches with the bases themselves.
-- grain: match
SELECT
  m.* REPLACE (
    CASE
      WHEN p.is_same_device THEN m.differing_keys
      WHEN m.differing_keys IS NOT NULL
        THEN concat_ws(', ', nullif(m.differing_keys, ''), 'device')
    END AS differing_keys
  ),
  p.is_same_device
FROM laddered_pairs AS m
JOIN paired_runs AS p ON p.pair = m.pair
