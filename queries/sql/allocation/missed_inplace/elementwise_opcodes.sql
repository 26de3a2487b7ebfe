-- step: Opcodes of which each element of the result depends on the same
--   element of the operands.
-- grain: opcode
-- materialised: no
SELECT unnest([
  'abs', 'add', 'and', 'bitcast-convert', 'cbrt', 'ceil', 'clamp',
  'compare', 'convert', 'copy', 'cosine', 'count-leading-zeros', 'divide',
  'erf', 'exponential', 'exponential-minus-one', 'floor', 'is-finite',
  'log', 'log-plus-one', 'logistic', 'maximum', 'minimum', 'multiply',
  'negate', 'not', 'or', 'popcnt', 'power', 'reduce-precision', 'remainder',
  'round-nearest-afz', 'round-nearest-even', 'rsqrt', 'select',
  'shift-left', 'shift-right-arithmetic', 'shift-right-logical', 'sign',
  'sine', 'sqrt', 'subtract', 'tan', 'tanh', 'xor'
]) AS opcode
