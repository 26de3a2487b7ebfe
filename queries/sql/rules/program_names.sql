-- title: Additions of frameworks to program names
-- question: Which parts of a module's name do not belong to the program's
--   name?
-- definition: Regular expressions (Python), tried in this order on a module's
--   name without XLA's number and suffixes. If one matches the whole rest, the
--   program's name is kept. Applied by ingest. TensorFlow compiles
--   __inference_NAME_NUMBER[_XlaMustCompile=true,config_proto=…], a gradient
--   as __inference___backward_NAME_NUMBER_NUMBER[…], and a cluster that it
--   found itself as cluster_0[_XlaCompiledKernel=true,…]; XLA replaces
--   characters that names cannot have with _, and puts a letter first. The
--   numbers count all functions, or all clusters, of the process so far.
-- grain: pattern
-- column place BIGINT id neutral: Order of the pattern.
-- column framework VARCHAR name neutral: Framework of the names.
-- column pattern VARCHAR text neutral: Regular expression on the whole name.
-- column kept VARCHAR text neutral: Program's name; \1 is the first group.
SELECT CAST(r.place AS BIGINT) AS place, r.framework, r.pattern, r.kept
FROM (VALUES
  ('10', 'tensorflow', '(?s)(cluster)_\d+__Xla[A-Z].*', '\1'),
  ('20', 'tensorflow', '(?s)(.*?)(?<!_)__+Xla[A-Z].*', '\1'),
  ('30', 'tensorflow', '(?s)a_inference___(backward_.*)_\d+_\d+', '\1'),
  ('40', 'tensorflow', '(?s)a_((inference|forward|backward)_.*)_\d+', '\1')
) AS r (place, framework, pattern, kept)
