-- step: Their likely partners, by further rungs: of other memory spaces and
--   kinds, with one dimension changed, or of equal size, the largest first.
--   One of both has to be at the peak. What is not at the peak on either side,
--   and has the same instruction and kind of allocation there, did not move to
--   another kind.
-- grain: pair, match
WITH RECURSIVE likely_keys AS MATERIALIZED (
  SELECT
    t.pair, t.is_candidate, t.place, t.is_counted, t.size_bytes,
    [
      CASE WHEN t.instruction IS NOT NULL
        THEN hash(
          t.color, t.kind, t.instruction, t.opcode, t.plain_path, t.array_type,
          t.shape_index
        )
      END,
      CASE WHEN t.opcode IS NOT NULL
        THEN hash(
          t.color, t.kind, t.opcode, t.path_or_name, t.array_type,
          t.shape_index
        )
      END,
      CASE WHEN t.plain_path IS NOT NULL
        THEN hash(t.color, t.kind, t.plain_path, t.array_type)
      END,
      CASE WHEN t.instruction IS NOT NULL
        THEN hash(t.color, t.instruction, t.opcode, t.plain_path, t.array_type,
          t.shape_index
        )
      END,
      CASE WHEN t.opcode IS NOT NULL
        THEN hash(
          t.color, t.opcode, t.path_or_name, t.array_type, t.shape_index
        )
      END,
      CASE WHEN t.plain_path IS NOT NULL
        THEN hash(t.color, t.plain_path, t.array_type)
      END,
      CASE WHEN t.instruction IS NOT NULL
        THEN hash(t.instruction, t.opcode, t.plain_path, t.array_type,
          t.shape_index
        )
      END,
      CASE WHEN t.opcode IS NOT NULL
        THEN hash(t.opcode, t.path_or_name, t.array_type, t.shape_index)
      END,
      CASE WHEN t.plain_path IS NOT NULL
        THEN hash(t.plain_path, t.array_type)
      END,
      CASE WHEN t.is_counted AND t.parameter IS NOT NULL
        THEN hash(t.color, t.kind, t.parameter, t.plain_path)
      END,
      -- Its moments may be of another type, too.
      CASE WHEN t.is_counted AND t.ending IS NOT NULL
        THEN hash(t.color, t.kind, t.ending, t.dimensions)
      END,
      CASE WHEN t.is_counted AND t.plain_path IS NOT NULL
        THEN hash(
          t.color, t.kind, t.plain_path, t.opcode, t.shape_index,
          t.dimensions[2:]
        )
      END,
      CASE WHEN t.is_counted AND t.plain_path IS NOT NULL
        THEN hash(
          t.color, t.kind, t.plain_path, t.opcode, t.shape_index,
          t.dimensions[:-2]
        )
      END,
      CASE WHEN t.is_counted AND t.plain_path IS NOT NULL
        THEN hash(t.color, t.kind, t.plain_path, t.opcode, t.shape_index)
      END,
      CASE WHEN t.is_counted AND t.plain_path IS NULL
        THEN hash(
          t.color, t.kind, t.path_or_name, t.opcode, t.shape_index,
          t.dimensions
        )
      END
    ]
    -- Without one of the first eight dimensions.
    || list_transform(
      range(8),
      lambda d:
        CASE
          WHEN t.is_counted AND t.plain_path IS NULL AND len(t.dimensions) > d
            THEN hash(
              t.color, t.kind, t.plain_name, t.opcode, t.shape_index,
              t.element_type, t.dimensions[:d], t.dimensions[d + 2:]
            )
        END
    )
    || [
      CASE
        WHEN t.is_counted AND t.plain_path IS NULL AND len(t.dimensions) > 0
          THEN hash(
            t.color, t.kind, t.plain_name, t.opcode, t.shape_index,
            t.element_type, len(t.dimensions)
          )
      END,
      CASE WHEN t.is_counted AND t.opcode IS NOT NULL
        THEN hash(t.color, t.kind, t.opcode, t.array_type)
      END,
      CASE WHEN t.is_counted AND t.array_type IS NOT NULL
        THEN hash(t.color, t.kind, t.array_type)
      END,
      CASE WHEN t.is_counted AND t.size_bytes > 0
        THEN hash(t.color, t.kind, t.size_bytes)
      END
    ] AS keys
  FROM unmatched_arrays AS t
  SEMI JOIN (SELECT o.pair FROM unmatched_arrays AS o WHERE o.is_counted) AS o
    ON o.pair = t.pair
),
unmoved AS (
  SELECT y.pair, y.keys[1] AS key
  FROM likely_keys AS y
  WHERE NOT y.is_counted
    AND y.keys[1] IS NOT NULL
  GROUP BY y.pair, y.keys[1]
  HAVING bool_or(y.is_candidate) AND NOT bool_and(y.is_candidate)
),
keyed AS MATERIALIZED (
  SELECT t.*, t.keys[t.rung] AS key
  FROM (
    SELECT
      y.*,
      unnest(range(1, 1 + CASE
        WHEN y.is_counted THEN len(y.keys)
        WHEN u.key IS NOT NULL THEN 3
        ELSE 9
      END)) AS rung
    FROM likely_keys AS y
    LEFT JOIN unmoved AS u
      ON u.pair = y.pair
      AND u.key = y.keys[1]
      AND NOT y.is_counted
  ) AS t
),
-- Keys of both sides, one of them counted: the others match nothing.
shared_keys AS (
  SELECT k.pair, k.rung, k.key
  FROM keyed AS k
  WHERE k.key IS NOT NULL
  GROUP BY k.pair, k.rung, k.key
  HAVING bool_or(k.is_candidate)
    AND NOT bool_and(k.is_candidate)
    AND bool_or(k.is_counted)
),
climbers AS MATERIALIZED (
  SELECT
    k.pair, k.is_candidate, k.place, k.is_counted, k.size_bytes,
    list(k.rung ORDER BY k.rung) AS rungs, list(k.key ORDER BY k.rung) AS keys
  FROM keyed AS k
  JOIN shared_keys AS s USING (pair, rung, key)
  GROUP BY k.pair, k.is_candidate, k.place, k.is_counted, k.size_bytes
),
likely_climb AS (
  SELECT
    1 AS rung, t.pair, t.is_candidate, t.place, t.is_counted, t.size_bytes,
    t.rungs, t.keys, CAST(NULL AS BIGINT) AS base_place,
    CAST(NULL AS BIGINT) AS candidate_place
  FROM climbers AS t
  UNION ALL
  (
    SELECT
      n.rung + 1, n.pair, n.is_candidate, n.place, n.is_counted, n.size_bytes,
      n.rungs[2:], n.keys[2:],
      CASE WHEN bool_or(n.is_counted) OVER nth_left
        THEN max(n.place) FILTER (WHERE NOT n.is_candidate) OVER nth_left
      END,
      CASE WHEN bool_or(n.is_counted) OVER nth_left
        THEN max(n.place) FILTER (WHERE n.is_candidate) OVER nth_left
      END
    FROM (
      SELECT
        w.*,
        row_number() OVER (
          PARTITION BY w.pair, w.is_candidate, w.keys[1]
          ORDER BY w.is_counted DESC, w.size_bytes DESC, w.place
        ) AS ordinal
      FROM likely_climb AS w
      WHERE w.rungs[1] = w.rung
        AND (w.base_place IS NULL OR w.candidate_place IS NULL)
    ) AS n
    WINDOW nth_left AS (PARTITION BY n.pair, n.keys[1], n.ordinal)
    UNION ALL
    SELECT
      w.rung + 1, w.pair, w.is_candidate, w.place, w.is_counted, w.size_bytes,
      w.rungs, w.keys, NULL, NULL
    FROM likely_climb AS w
    WHERE w.rungs[1] > w.rung
      AND (w.base_place IS NULL OR w.candidate_place IS NULL)
  )
)
SELECT c.pair, c.base_place, c.candidate_place, c.rung + 7 AS rung
FROM likely_climb AS c
WHERE c.is_candidate
  AND c.base_place IS NOT NULL
  AND c.candidate_place IS NOT NULL
