-- step: Parts of the difference that buffers have: a lasting one up to four,
--   all others one for each side that is at the peak.
-- grain: pair, match, part
-- materialised: no
WITH split_pairs AS (
  SELECT
    m.number,
    unnest(
      CASE
        WHEN m.method = 'size'
          THEN [{
            part: 'alias', delta: m.candidate_owned_bytes - m.base_owned_bytes,
            note: 'shares more or less in place'
          }]
        ELSE [
          {
            part: 'retyped',
            delta: CASE
              WHEN m.base_type IS DISTINCT FROM m.candidate_type
                THEN m.candidate_data - m.base_data - m.resized
              ELSE 0
            END,
            note: concat(
              coalesce(m.base_shape, 'None'), ' to ',
              coalesce(m.candidate_shape, 'None')
            )
          },
          {
            part: 'resized', delta: m.resized,
            note: concat(
              coalesce(m.base_shape, 'None'), ' to ',
              coalesce(m.candidate_shape, 'None')
            )
          },
          {
            part: 'repadded',
            delta: (m.candidate_bytes - m.candidate_data)
              - (m.base_bytes - m.base_data),
            note: concat(
              m.base_bytes, ' B to ', m.candidate_bytes, ' B'
            )
          },
          {
            part: 'alias', delta: m.shared,
            note: CASE
              WHEN m.shared > 0 THEN 'shares less in place'
              ELSE 'shares in place'
            END
          }
        ]
      END
    ) AS change
  FROM lasting_pairs AS m
),
changed AS MATERIALIZED (
  SELECT s.number, s.change.part, s.change.delta, s.change.note
  FROM split_pairs AS s
  WHERE s.change.delta <> 0
),
sides_of_moved AS (
  SELECT m.number, FALSE AS is_candidate
  FROM buffer_pairs AS m
  WHERE NOT m.is_lasting IS NOT DISTINCT FROM TRUE
    AND m.base_is_counted
  UNION ALL
  SELECT m.number, TRUE
  FROM buffer_pairs AS m
  WHERE NOT m.is_lasting IS NOT DISTINCT FROM TRUE
    AND m.candidate_is_counted
)
SELECT
  m.number, m.candidate_color AS space_color, m.candidate_kind AS kind,
  coalesce(c.part, 'same') AS part, coalesce(c.delta, 0) AS delta,
  coalesce(c.note, '') AS note,
  CASE
    WHEN m.base_owned_bytes = m.candidate_owned_bytes THEN 'same'
    WHEN m.base_owned_bytes < m.candidate_owned_bytes THEN 'larger'
    ELSE 'smaller'
  END AS status,
  m.base_owned_bytes AS base_held, m.candidate_owned_bytes AS candidate_held
FROM lasting_pairs AS m
LEFT JOIN changed AS c USING (number)
UNION ALL
SELECT
  m.number,
  CASE WHEN s.is_candidate THEN m.candidate_color ELSE m.base_color END,
  CASE WHEN s.is_candidate THEN m.candidate_kind ELSE m.base_kind END,
  CASE
    WHEN m.method = 'output' THEN 'alias'
    WHEN m.candidate_place IS NULL THEN 'gone'
    WHEN m.base_place IS NULL THEN 'new'
    WHEN m.base_color <> m.candidate_color THEN 'memory_space'
    WHEN m.base_kind <> m.candidate_kind THEN 'allocation_kind'
    WHEN m.candidate_kind = 'temp' THEN 'lifetime'
    ELSE 'alias'
  END,
  CASE
    WHEN s.is_candidate THEN m.candidate_owned_bytes
    ELSE -m.base_owned_bytes
  END,
  CASE
    WHEN m.method = 'output' AND s.is_candidate
      THEN format(
        'output {} shared its memory with a parameter', m.output_index
      )
    WHEN m.method = 'output'
      THEN format(
        'output {} now shares its memory with a parameter', m.output_index
      )
    WHEN m.candidate_place IS NULL OR m.base_place IS NULL THEN ''
    WHEN m.base_color <> m.candidate_color
      THEN format(
        'memory space {} to {}', m.base_color, m.candidate_color
      )
    -- What is not counted beside a temporary one shares an allocation.
    WHEN m.base_kind <> m.candidate_kind
      THEN CASE
        WHEN s.is_candidate AND NOT m.base_is_counted
          AND m.base_kind <> 'temp'
          THEN 'no longer shares memory with ' || CASE m.base_kind
            WHEN 'parameter' THEN 'an argument' ELSE 'a result'
          END
        WHEN NOT s.is_candidate AND NOT m.candidate_is_counted
          AND m.candidate_kind <> 'temp'
          THEN 'now shares memory with ' || CASE m.candidate_kind
            WHEN 'parameter' THEN 'an argument' ELSE 'a result'
          END
        ELSE concat('moved from ', m.base_kind, ' to ', m.candidate_kind)
      END
    WHEN m.candidate_kind = 'temp' AND m.candidate_is_counted
      THEN 'now live at the peak'
    WHEN m.candidate_kind = 'temp' THEN 'no longer live at the peak'
    WHEN m.candidate_is_counted THEN 'has its own allocation'
    ELSE 'shares an allocation'
  END,
  CASE
    WHEN s.is_candidate AND m.base_place IS NULL THEN 'new'
    WHEN m.candidate_place IS NULL THEN 'gone'
    WHEN m.base_color <> m.candidate_color
      OR m.base_kind <> m.candidate_kind
      THEN CASE WHEN s.is_candidate THEN 'moved in' ELSE 'moved out' END
    WHEN m.candidate_kind = 'temp' AND s.is_candidate THEN 'now at the peak'
    WHEN m.candidate_kind = 'temp' THEN 'no longer at the peak'
    WHEN s.is_candidate THEN 'no longer shared'
    ELSE 'now shared'
  END,
  CASE WHEN NOT s.is_candidate THEN m.base_owned_bytes END,
  CASE WHEN s.is_candidate THEN m.candidate_owned_bytes END
FROM buffer_pairs AS m
JOIN sides_of_moved AS s USING (number)
