-- step: Of those, by how much dimensions and memory shared with others
--   changed.
-- grain: pair, match
SELECT
  m.*,
  CASE
    WHEN m.base_type IS NOT DISTINCT FROM m.candidate_type
      THEN m.candidate_data - m.base_data
    -- What other dimensions cost at the mean of both element widths; the
    -- rest is the element type's. Both change sign when the sides do.
    WHEN e.base_count * e.candidate_count > 0
      THEN CAST(
        (
          m.base_data * e.candidate_count // e.base_count - m.base_data
          + m.candidate_data
          - m.candidate_data * e.base_count // e.candidate_count
        ) // 2
        AS BIGINT
      )
    ELSE 0
  END AS resized,
  (m.candidate_owned_bytes - m.candidate_bytes)
  - (m.base_owned_bytes - m.base_bytes) AS shared
FROM buffer_pairs AS m,
LATERAL (
  SELECT
    CAST(coalesce(list_product(list_transform(
      string_split(nullif(
        regexp_extract(m.base_shape, '\[([^\]]*)\]$', 1), ''), ','
      ),
      lambda x: coalesce(TRY_CAST(replace(x, '<=', '') AS BIGINT), 0)
    )), 1) AS HUGEINT) AS base_count,
    CAST(coalesce(list_product(list_transform(
      string_split(nullif(
        regexp_extract(m.candidate_shape, '\[([^\]]*)\]$', 1), ''), ','
      ),
      lambda x: coalesce(TRY_CAST(replace(x, '<=', '') AS BIGINT), 0)
    )), 1) AS HUGEINT) AS candidate_count
) AS e
WHERE m.is_lasting
