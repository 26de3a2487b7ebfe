-- title: How buffers of two modules are matched
-- question: Which rules match two buffers of different modules, and how sure
--   is each?
-- definition: The rules of matched_buffers, the surest first. A buffer that
--   one rule matches is not considered by later rules. From rule 2 on, a
--   number at the end of a path says nothing; at another size, nor does that
--   of a copy.
-- grain: rung
-- column rung BIGINT id neutral: Position of the rule, 1 for the surest.
-- column method VARCHAR name neutral: Name of the rule.
-- column confidence DOUBLE score higher_is_better: Confidence of a match, from
--   0 to 1.
-- column doc VARCHAR text neutral: Properties that must be equal.
SELECT
  CAST(r.rung AS BIGINT) AS rung, r.method,
  CAST(r.confidence AS DOUBLE) AS confidence, r.doc
FROM (
  VALUES
    (1, 'parameter', 1.0, 'parameter number, framework path and dimensions'),
    (2, 'instruction', 1.0,
      'instruction, opcode, framework path, dimensions and index'),
    (3, 'operation and shape', 0.9,
      'opcode, framework path or else the instruction without its number,'
      || ' dimensions and index'),
    (4, 'framework path and shape', 0.8, 'framework path and dimensions'),
    (5, 'framework path and sizes', 0.8,
      'framework path and dimensions of a parameter, whatever the element'
      || ' type'),
    (6, 'argument name', 0.8,
      'dimensions and the framework path of a parameter from its last'
      || ' attribute on, whatever is before that'),
    (7, 'parameter number and shape', 0.7,
      'parameter number and dimensions, whatever it is called'),
    (8, 'carried by a loop', 0.5,
      'dimensions, where both are what a loop carries'),
    (9, 'instruction', 1.0, 'as 2, also what is not counted on one side'),
    (10, 'operation and shape', 0.9, 'as 3, like 9'),
    (11, 'framework path and shape', 0.8, 'as 4, like 9'),
    (12, 'instruction', 1.0, 'as 9, in any kind of allocation'),
    (13, 'operation and shape', 0.9, 'as 10, in any kind of allocation'),
    (14, 'framework path and shape', 0.8, 'as 11, in any kind of allocation'),
    (15, 'instruction', 1.0, 'as 12, in any memory space'),
    (16, 'operation and shape', 0.9, 'as 13, in any memory space'),
    (17, 'framework path and shape', 0.8, 'as 14, in any memory space'),
    (18, 'parameter number', 0.7, 'parameter number and framework path'),
    (19, 'argument name', 0.7, 'as 6, whatever the element type'),
    (20, 'framework path', 0.7,
      'framework path, opcode, index and all dimensions but the first'),
    (21, 'framework path', 0.7, 'all but the last'),
    (22, 'framework path', 0.7, 'framework path, opcode and index'),
    (23, 'instruction of another type', 0.6,
      'what the compiler adds: instruction without its number, opcode,'
      || ' dimensions without their type, and index'),
    (24, 'instruction at another size', 0.6,
      'what the compiler adds: instruction, opcode, index and all dimensions'
      || ' but the first'),
    (25, 'instruction at another size', 0.6, 'all but the second'),
    (26, 'instruction at another size', 0.6, 'all but the third'),
    (27, 'instruction at another size', 0.6, 'all but the fourth'),
    (28, 'instruction at another size', 0.6, 'all but the fifth'),
    (29, 'instruction at another size', 0.6, 'all but the sixth'),
    (30, 'instruction at another size', 0.6, 'all but the seventh'),
    (31, 'instruction at another size', 0.6, 'all but the eighth'),
    (32, 'instruction at another size', 0.5,
      'what the compiler adds: instruction, opcode, element type, index and'
      || ' number of dimensions'),
    (33, 'opcode and shape', 0.5, 'opcode and dimensions'),
    (34, 'shape', 0.4, 'dimensions'),
    (35, 'size', 0.3, 'nothing but the size')
) AS r (rung, method, confidence, doc)
ORDER BY rung
