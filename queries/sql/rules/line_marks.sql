-- title: Source files that mark the role of an operation
-- question: By which file of its source lines does an operation belong to the
--   backward pass or the optimiser?
-- definition: For operations whose path tells nothing: those that path_marks
--   calls by_line. A query of your own with the name line_marks and these
--   columns takes its place.
-- grain: fragment
-- column framework VARCHAR name neutral: Framework of the file.
-- column phase VARCHAR name neutral: backward or optimiser.
-- column fragment VARCHAR name neutral: Part of the file's path.
SELECT r.framework, r.phase, r.fragment
FROM (VALUES
  ('pytorch', 'backward', '/torch/autograd/graph.py'),
  ('pytorch', 'backward', '/torch/autograd/__init__.py'),
  ('pytorch', 'optimiser', '/torch/optim/'),
  ('pytorch', 'optimiser', '/torch_xla/amp/syncfree/')
) AS r (framework, phase, fragment)
