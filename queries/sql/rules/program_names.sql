-- title: Names that frameworks add something to
-- question: What of a module's name is not the program's?
-- definition: Python's regular expressions, tried in their order on a name
--   without XLA's number and suffixes: where one matches all of what is left,
--   kept takes its place. An ingest applies them. TensorFlow compiles
--   __inference_NAME_NUMBER[_XlaMustCompile=true,config_proto=…], a gradient
--   as __inference___backward_NAME_NUMBER_NUMBER[…], a cluster that it found
--   itself as cluster_0[_XlaCompiledKernel=true,…]; XLA puts _ for what names
--   can't have, and a letter first. The numbers count all functions, and all
--   clusters, before it in the process.
-- grain: pattern
-- column place BIGINT id neutral: Order of the pattern.
-- column framework VARCHAR name neutral: Framework of the names.
-- column pattern VARCHAR text neutral: Regular expression on the whole name.
-- column kept VARCHAR text neutral: What stays, \1 for the first group.
SELECT CAST(r.place AS BIGINT) AS place, r.framework, r.pattern, r.kept
FROM (VALUES
  ('10', 'tensorflow', '(?s)(cluster)_\d+__Xla[A-Z].*', '\1'),
  ('20', 'tensorflow', '(?s)(.*?)(?<!_)__+Xla[A-Z].*', '\1'),
  ('30', 'tensorflow', '(?s)a_inference___(backward_.*)_\d+_\d+', '\1'),
  ('40', 'tensorflow', '(?s)a_((inference|forward|backward)_.*)_\d+', '\1')
) AS r (place, framework, pattern, kept)
