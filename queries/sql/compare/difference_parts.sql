-- title: Parts of a difference
-- question: What does each part of a difference mean?
-- definition: The parts that delta_waterfall, buffer_diff, buffer_changes,
--   report.json and the text of reports use.
-- grain: part
-- column part VARCHAR name neutral: Name of the part.
-- column meaning VARCHAR text neutral: Bytes that it counts.
SELECT v.part, v.meaning
FROM (
  VALUES
    (1, 'new', 'buffers that only the candidate has'),
    (2, 'gone', 'buffers that only the base has'),
    (3, 'resized', 'other dimensions'),
    (4, 'retyped', 'another element type'),
    (5, 'repadded', 'the same data in more or less room'),
    (6, 'lifetime',
      'a buffer that now is, or no longer is, live at the peak'),
    (7, 'memory_space', 'a buffer that moved to another memory space'),
    (8, 'alias',
      'memory that is no longer shared, or now is, with a parameter'
      || ' (donation) or in place'),
    (9, 'allocation_kind',
      'a buffer that moved to another kind of allocation, such as from temp'
      || ' to live_out'),
    (10, 'fragmentation',
      'temporary memory beyond the most that is live at once: packing'),
    (11, 'temp',
      'all temporary memory, where a side has no live ranges to split it by'),
    (12, 'whole',
      'all of one kind of allocation, where the details of a run were pruned')
) AS v (place, part, meaning)
ORDER BY v.place
