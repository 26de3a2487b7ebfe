-- title: Source files of frameworks
-- question: Which parts of a path show that a source file belongs to a
--   framework?
-- definition: Ingest uses the same rows to find the user's frame in a stack:
--   the innermost one outside of these files.
-- grain: fragment
-- column fragment VARCHAR name neutral: Part of a path.
-- column framework VARCHAR name neutral: Framework of the files.
SELECT r.fragment, r.framework
FROM (VALUES
  ('/site-packages/jax/', 'jax'),
  ('/site-packages/jaxlib/', 'jax'),
  ('/site-packages/flax/', 'flax'),
  ('/site-packages/optax/', 'optax'),
  ('/site-packages/haiku/', 'haiku'),
  ('/site-packages/equinox/', 'equinox'),
  ('/site-packages/tensorflow/', 'tensorflow'),
  ('/site-packages/keras/', 'keras'),
  ('/site-packages/torch/', 'torch'),
  ('/site-packages/torch_xla/', 'torch_xla'),
  ('/dist-packages/jax/', 'jax'),
  ('/dist-packages/jaxlib/', 'jax'),
  ('/dist-packages/flax/', 'flax'),
  ('/dist-packages/optax/', 'optax'),
  ('/dist-packages/haiku/', 'haiku'),
  ('/dist-packages/equinox/', 'equinox'),
  ('/dist-packages/tensorflow/', 'tensorflow'),
  ('/dist-packages/keras/', 'keras'),
  ('/dist-packages/torch/', 'torch'),
  ('/dist-packages/torch_xla/', 'torch_xla'),
  ('/lib/python', 'python'),
  ('<frozen ', 'python')
) AS r (fragment, framework)
