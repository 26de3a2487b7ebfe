-- title: Names of layers in framework paths
-- question: Which part of a framework path shows the layer of a model?
-- definition: The first rule by place decides whose pattern is found in the
--   path: op_name with brackets, quotes and dots replaced by slashes, such as
--   /params/blocks/3/up for params['blocks'][3]['up']. Its first group is the
--   name of the layers, its second the number of one. Where layers are in one
--   another, the outermost counts. Replace it with a query of your own with
--   this name and these columns.
-- grain: rule
-- column place BIGINT id neutral: Order of the rule.
-- column framework VARCHAR name neutral: Framework that writes it; any: names
--   that libraries and users choose.
-- column pattern VARCHAR text neutral: Regular expression with two groups.
SELECT CAST(r.place AS BIGINT) AS place, r.framework, r.pattern
FROM (VALUES
  (10, 'any',
    '(?i)/((?:(?:encoder|decoder)/)?(?:[a-z][a-z0-9_]*?)?'
      || '(?:layer|block|stage)s?)[_/]?(\d{1,9})(?:/|$)'),
  (20, 'gpt', '/(h)[_/](\d{1,9})/'),
  (30, 'keras', '/((?:conv\d+_)?block)(\d{1,9})[a-z]?_'),
  -- What a model without names for its parts calls them, not what these do.
  (40, 'flax',
    '^/jit/[^/]+/(?:(?:transpose|jvp|vmap)/)*[A-Za-z0-9]+'
      || '/([A-Z][A-Za-z0-9]*)_(\d{1,9})/'),
  (50, 'flax',
    '/(?:params|batch_stats|mu|nu|trace)/([A-Z][A-Za-z0-9]*)_(\d{1,9})/')
) AS r (place, framework, pattern)
