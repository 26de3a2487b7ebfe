-- title: Names that do not distinguish programs
-- question: Which names does a framework give to all programs, or to all
--   arguments?
-- definition: Programs with such a name are distinguished by their content,
--   arguments by their instruction. PyTorch/XLA gives one name to every
--   program, TensorFlow to the clusters that it finds itself, and Keras to
--   each step of fit, evaluate and predict, in version 3 and before.
-- grain: kind, name
-- column framework VARCHAR name neutral: Framework that gives it.
-- column kind VARCHAR name neutral: program, or argument for the op_name of a
--   parameter.
-- column name VARCHAR name neutral: The name.
SELECT r.framework, r.kind, r.name
FROM (VALUES
  ('pytorch', 'program', 'SyncTensorsGraph'),
  ('tensorflow', 'program', 'cluster'),
  ('keras', 'program', 'inference_one_step_on_data'),
  ('keras', 'program', 'inference_run_step'),
  ('pytorch', 'argument', 'xla__device_data'),
  ('tensorflow', 'argument', 'XLA_Args')
) AS r (framework, kind, name)
