-- title: Instructions that take memory at run time
-- question: Which instructions take memory that the buffer assignment does not
--   include?
-- definition: Kinds of custom fusions (fusion_config.kind of the backend
--   config) and targets of custom calls. Measured on CPU with jax 0.10.2: the
--   attention of 4 sequences of 1,024 has 2 MiB of temporaries, and the
--   process grows by 41 MiB; the eigenvalues of a matrix of 1,536 take 24 MB
--   beside the buffers. JAX's solvers for GPU take their workspace from a
--   scratch allocator.
-- grain: opcode, pattern
-- column opcode
-- column pattern VARCHAR text neutral: Regular expression for kind or target.
-- column what VARCHAR text neutral: What such an instruction runs.
SELECT r.opcode, r.pattern, r.what
FROM (VALUES
  ('fusion', '^__(ynn|xnn|onednn)_fusion$', 'a kernel of a CPU library'),
  ('custom-call', '^lapack_', 'a routine of LAPACK'),
  ('custom-call', '^(cu|hip)(solver|blas)_.*_ffi$', 'a solver of JAX for GPU')
) AS r (opcode, pattern, what)
