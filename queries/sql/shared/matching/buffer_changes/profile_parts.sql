-- step: Parts of the difference that profiles have: packing, and all others
--   where buffers are not known.
-- grain: pair, memory space, part
-- materialised: no
SELECT
  s.pair, s.space_color,
  unnest(
    CASE
      WHEN s.is_detailed THEN []
      ELSE [
        {part: 'whole', kind: 'parameter', delta: s.parameter_delta},
        {part: 'whole', kind: 'constant', delta: s.constant_delta},
        {part: 'whole', kind: 'live_out', delta: s.live_out_delta},
        {part: 'whole', kind: 'thread_local', delta: s.thread_local_delta},
        {
          part: 'whole', kind: 'temp',
          delta: CASE WHEN s.has_ranges THEN s.live_delta ELSE 0 END
        }
      ]
    END
    || [{
      part: CASE
        WHEN s.packing_delta = 0 AND s.has_ranges THEN 'same'
        WHEN s.temp_delta = 0 AND NOT s.has_ranges THEN 'same'
        WHEN s.has_ranges THEN 'fragmentation'
        ELSE 'temp'
      END,
      kind: 'temp',
      delta: CASE
        WHEN s.has_ranges THEN s.packing_delta ELSE s.temp_delta
      END
    }]
  ) AS change
FROM space_deltas AS s
