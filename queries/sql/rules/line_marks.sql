-- title: Source files that show the phase of an operation
-- question: Which source files show that an operation belongs to the backward
--   pass or the optimiser?
-- definition: Used for operations whose path says nothing about the phase:
--   those that path_marks marks with by_line. Replace it with a query of your
--   own with this name and these columns.
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
