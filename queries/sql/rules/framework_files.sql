-- title: Files that are a framework's own
-- question: By what in its path is a source file known to be no user's?
-- definition: The path fragments of ingest/tables/framework_prefixes.csv, by
--   which stack frames are chosen, too.
-- grain: fragment
-- column fragment VARCHAR name neutral: Part of a path.
SELECT r.fragment
FROM (VALUES
  ('/site-packages/jax/'),
  ('/site-packages/jaxlib/'),
  ('/site-packages/flax/'),
  ('/site-packages/optax/'),
  ('/site-packages/haiku/'),
  ('/site-packages/equinox/'),
  ('/site-packages/tensorflow/'),
  ('/site-packages/keras/'),
  ('/site-packages/torch/'),
  ('/site-packages/torch_xla/'),
  ('/dist-packages/jax/'),
  ('/dist-packages/jaxlib/'),
  ('/dist-packages/flax/'),
  ('/dist-packages/optax/'),
  ('/dist-packages/haiku/'),
  ('/dist-packages/equinox/'),
  ('/dist-packages/tensorflow/'),
  ('/dist-packages/keras/'),
  ('/dist-packages/torch/'),
  ('/dist-packages/torch_xla/'),
  ('/lib/python'),
  ('<frozen ')
) AS r (fragment)
