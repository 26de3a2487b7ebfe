-- step: Buffers at the peak that have parameter, instruction, opcode or
--   framework path in common, or that loops carry, by the first rung of eight
--   on which both sides have the same key. Who is on a rung has found no
--   partner on those above it.
-- grain: pair, match
WITH RECURSIVE sure_keys AS (
  SELECT
    t.pair, t.is_candidate, t.place, t.is_counted,
    [
      CASE WHEN t.parameter IS NOT NULL
        THEN hash(t.color, t.kind, t.parameter, t.plain_path, t.array_type)
      END,
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
      CASE WHEN t.parameter IS NOT NULL AND t.plain_path IS NOT NULL
        THEN hash(t.color, t.kind, t.plain_path, t.dimensions)
      END,
      -- Another transformation may be around that of an optimiser.
      CASE WHEN t.ending IS NOT NULL
        THEN hash(t.color, t.kind, t.ending, t.array_type)
      END,
      CASE WHEN t.parameter IS NOT NULL
        THEN hash(t.color, t.kind, t.parameter, t.array_type)
      END,
      -- Passes of XLA give other names to the loop, and to what it carries.
      CASE WHEN t.parameter IS NULL AND t.opcode IN ('while', 'parameter')
        THEN hash(t.color, t.kind, t.array_type)
      END
    ] AS keys
  FROM compared_arrays AS t
  ANTI JOIN lost_donations AS d
    ON d.pair = t.pair
    AND d.is_candidate = t.is_candidate
    AND d.place = t.place
  WHERE t.is_counted
),
sure_climb AS (
  SELECT
    1 AS rung, t.pair, t.is_candidate, t.place, t.is_counted, t.keys,
    CAST(NULL AS BIGINT) AS base_place, CAST(NULL AS BIGINT) AS candidate_place
  FROM sure_keys AS t
  UNION ALL
  (
    SELECT
      n.rung + 1, n.pair, n.is_candidate, n.place, n.is_counted, n.keys,
      CASE WHEN bool_or(n.is_counted) OVER nth_of_key
        THEN max(n.place) FILTER (WHERE NOT n.is_candidate) OVER nth_of_key
      END,
      CASE WHEN bool_or(n.is_counted) OVER nth_of_key
        THEN max(n.place) FILTER (WHERE n.is_candidate) OVER nth_of_key
      END
    FROM (
      SELECT
        w.*, w.keys[w.rung] AS key,
        row_number() OVER (
          PARTITION BY w.pair, w.is_candidate, w.keys[w.rung]
          ORDER BY w.is_counted DESC, w.place
        ) AS ordinal
      FROM sure_climb AS w
      WHERE w.keys[w.rung] IS NOT NULL
        AND (w.base_place IS NULL OR w.candidate_place IS NULL)
    ) AS n
    WINDOW nth_of_key AS (PARTITION BY n.pair, n.key, n.ordinal)
    UNION ALL
    SELECT
      w.rung + 1, w.pair, w.is_candidate, w.place, w.is_counted, w.keys,
      NULL, NULL
    FROM sure_climb AS w
    WHERE w.rung <= len(w.keys)
      AND w.keys[w.rung] IS NULL
      AND (w.base_place IS NULL OR w.candidate_place IS NULL)
  )
)
SELECT c.pair, c.base_place, c.candidate_place, c.rung - 1 AS rung
FROM sure_climb AS c
WHERE c.is_candidate
  AND c.base_place IS NOT NULL
  AND c.candidate_place IS NOT NULL
