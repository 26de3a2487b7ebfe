-- step: Arrays that go with others of one subject, with how many of their
--   bytes are freed, where the rule does not say so.
-- grain: value, mark, subject
SELECT
  p.module_id, p.value_id,
  CASE WHEN p.is_packable THEN 'padded_rows' ELSE 'padded' END AS mark,
  p.subject, p.padding_bytes AS part, p.size_bytes AS whole
FROM padded_arrays AS p
UNION ALL
SELECT
  l.module_id, l.value_id, 'long_loop',
  'values that ' || l.loop_name || ' saves per iteration', l.part, l.whole
FROM long_loops AS l
UNION ALL
SELECT
  s.module_id, s.value_id, 'prepared',
  'arrays made for all iterations of ' || s.loop_name, s.part, s.whole
FROM prepared_stacks AS s
UNION ALL
SELECT r.module_id, r.value_id, 'relaid', r.subject, r.part, r.whole
FROM relaid_arrays AS r
UNION ALL
SELECT w.module_id, w.value_id, 'window', w.subject, w.part, w.whole
FROM window_caches AS w
UNION ALL
SELECT c.module_id, c.value_id, 'chunkable', c.subject, c.part, c.whole
FROM chunkable_arrays AS c
UNION ALL
SELECT j.module_id, j.value_id, 'jacobian_row', j.subject, j.part, j.whole
FROM jacobian_rows AS j
UNION ALL
SELECT a.module_id, a.value_id, 'narrowed', 'all of ' || a.root, NULL, NULL
FROM arguments AS a
JOIN narrowed_arguments AS n USING (module_id, value_id)
UNION ALL
SELECT g.module_id, g.value_id, 'dense_gradient', g.subject, 1, 1
FROM dense_gradients AS g
