-- title: What dimensions of arguments are called
-- question: What does a dimension of an argument mean to who wrote the
--   program?
-- definition: Of the rules that fit an argument and a dimension, that of the
--   first place holds. A query of your own with the name size_names and these
--   columns takes its place.
-- grain: rule
-- column place BIGINT id neutral: Order of the rule.
-- column meaning VARCHAR name neutral: What such a dimension is called.
-- column words VARCHAR text neutral: Pattern of the argument's op_name, in
--   lower case.
-- column types VARCHAR text neutral: Pattern of its element type.
-- column dimension VARCHAR name neutral: first, second, later (third and
--   on) or largest: which of its dimensions; any: each.
SELECT
  CAST(r.place AS BIGINT) AS place, r.meaning, r.words, r.types, r.dimension
FROM (VALUES
  (10, 'batch', 'image|pixel|^x$|^y$|input|feature|label|target|token|batch',
    '.*', 'first'),
  (20, 'image size', 'image|pixel', '.*', 'later'),
  (30, 'sequence length', 'token|target|label|input|mask|position|ids',
    '[su]\d+|pred', 'second'),
  (40, 'cache length', '\bcache|\bkv_|past_key', '.*', 'later'),
  (50, 'vocabulary', 'embed|vocab|\bwte\b|lm_head|unembed', '.*', 'largest'),
  (60, 'classes', 'head|classif', '.*', 'largest'),
  (70, 'width', 'kernel|weight|bias|scale|param|model|\bw\d*\b|embed',
    'f\d+|bf16|f8.*', 'any')
) AS r (place, meaning, words, types, dimension)
