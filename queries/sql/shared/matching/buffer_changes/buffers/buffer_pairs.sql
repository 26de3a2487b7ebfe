-- step: Matched buffers, with the data that they hold without padding.
--   is_lasting: both are at the peak, in one memory space and one kind of
--   allocation.
-- grain: pair, match
SELECT
  m.*,
  row_number() OVER (
    ORDER BY m.pair, m.candidate_place NULLS LAST, m.base_place
  ) AS number,
  m.base_is_counted AND m.candidate_is_counted
  AND m.base_color = m.candidate_color
  AND m.base_kind = m.candidate_kind AS is_lasting,
  -- Data that does not fit into its room is not known.
  CASE
    WHEN m.base_logical_bytes <= m.base_bytes THEN m.base_logical_bytes
    ELSE m.base_bytes
  END AS base_data,
  CASE
    WHEN m.candidate_logical_bytes <= m.candidate_bytes
      THEN m.candidate_logical_bytes
    ELSE m.candidate_bytes
  END AS candidate_data,
  CASE WHEN m.base_shape NOT LIKE '(%'
    THEN nullif(regexp_extract(m.base_shape, '^([a-z]\w*)\[', 1), '')
  END AS base_type,
  CASE WHEN m.candidate_shape NOT LIKE '(%'
    THEN nullif(regexp_extract(m.candidate_shape, '^([a-z]\w*)\[', 1), '')
  END AS candidate_type
FROM matched_buffers(
  base_ids := (
    SELECT list(CASE WHEN p.is_detailed THEN p.base_id END ORDER BY p.pair)
    FROM detailed_pairs AS p
  ),
  candidate_ids := (
    SELECT
      list(CASE WHEN p.is_detailed THEN p.candidate_id END ORDER BY p.pair)
    FROM detailed_pairs AS p
  )
) AS m
