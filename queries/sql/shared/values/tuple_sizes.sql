-- title: Sizes of tuples
-- question: How many arrays does a tuple hold, and how large are they?
-- definition: Every distinct tuple shape of an instruction, tuples within
--   tuples by their arrays. array_bytes sums elements times element width: the
--   number in the name of the type (bits, a byte at least), or what the layout
--   says as E(bits); pred is a byte, a token nothing. A bounded dimension <=n
--   counts n; arrays of unknown size count nothing.
-- grain: shape
-- column shape
-- column array_count BIGINT count neutral: Arrays it holds.
-- column array_bytes BIGINT bytes neutral: Their logical sizes.
WITH arrays AS (
  SELECT
    shape,
    unnest(regexp_extract_all(
      shape, '[a-z]\w*\[[^\]]*\](?:\{[^}]*\})?'
    )) AS printed
  FROM (
    SELECT DISTINCT f.shape
    FROM store.instruction_forms AS f
    WHERE f.element_type = 'tuple'
  ) AS f
),
widths AS (
  SELECT
    shape,
    list_transform(
      regexp_extract_all(
        regexp_extract(printed, '\[([^\]]*)\]', 1), '[0-9?]+'
      ),
      lambda size: TRY_CAST(size AS BIGINT)
    ) AS sizes,
    CASE
      WHEN printed LIKE 'pred[%' THEN 8
      WHEN printed LIKE 'token[%' THEN 0
      ELSE TRY_CAST(regexp_extract(printed, '^[a-z]+([0-9]+)', 1) AS INTEGER)
    END AS bits,
    TRY_CAST(
      regexp_extract(printed, '[^A-Z]E\(([0-9]+)\)', 1) AS INTEGER
    ) AS packed_bits
  FROM arrays
),
counted AS (
  SELECT
    shape, bits, packed_bits,
    list_reduce(
      sizes, lambda x, y: x * y, CAST(1 AS HUGEINT)
    ) AS elements
  FROM widths
)
SELECT
  shape, count(*) AS array_count,
  CAST(coalesce(sum(
    CASE
      WHEN packed_bits > 0 THEN (elements * packed_bits + 7) // 8
      ELSE elements * ((bits + 7) // 8)
    END
  ), 0) AS BIGINT) AS array_bytes
FROM counted
GROUP BY shape
