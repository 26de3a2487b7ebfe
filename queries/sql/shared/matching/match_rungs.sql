-- title: How modules of two runs are matched
-- question: Which rules match two modules of different runs as the same
--   program, and how sure is each?
-- definition: The rules of module_ladder, the surest first; the rank must be
--   equal, too. A module that one rule matches is not considered by later
--   rules. likeness is the share of equal opcodes: the sum of the smaller
--   counts divided by the sum of the greater ones.
-- grain: rung
-- column rung BIGINT id neutral: Position of the rule, 1 for the surest.
-- column method VARCHAR name neutral: Name of the rule: the properties that
--   must be equal.
-- column confidence DOUBLE score higher_is_better: Confidence of a match, from
--   0 to 1; NULL if it is the likeness.
-- column doc VARCHAR text neutral: Properties that must be equal, in words.
SELECT
  CAST(r.rung AS BIGINT) AS rung, r.method,
  CAST(r.confidence AS DOUBLE) AS confidence, r.doc
FROM (
  VALUES
    (1, 'program', 1.0, 'program, program_key and exact_fingerprint'),
    (2, 'program', 1.0, 'program, program_key and graph of the source'),
    (3, 'program', 1.0, 'program and program_key'),
    (4, 'program and source shapes', 0.95,
      'program and entry shapes of the source'),
    (5, 'exact fingerprint', 0.95, 'exact_fingerprint, whatever the name'),
    (6, 'graph fingerprint', 0.9, 'graph_fingerprint, whatever the name'),
    (7, 'source graph fingerprint', 0.9,
      'graph of the source, whatever the name'),
    (8, 'program name', 0.7,
      'program, where each run has only one left of that name'),
    (9, 'entry shapes and opcodes', NULL,
      'equal entry shapes in any order and a likeness of at least 0.5, the'
      || ' most alike first'),
    (10, 'program name and opcodes', NULL,
      'program and a likeness of at least 0.5, the most alike first'),
    (11, 'compiled again', 0.9,
      'one more compilation of a program: with its first one in the base'),
    (12, 'series', 0.9,
      'the last earlier run of the series, where the base has no comparable'
      || ' one')
) AS r (rung, method, confidence, doc)
ORDER BY rung
