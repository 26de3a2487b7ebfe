-- title: Buffers of two modules, side by side
-- question: Which buffers of two modules correspond to each other?
-- definition: Buffers of compared_buffers that are counted on at least one
--   side. The allocation of a result that the other side keeps in a parameter
--   (donation_changes) has no partner and the method output. The others are
--   matched by the rules of buffer_rungs: for each key, the n-th of the base
--   in order of definition is matched with the n-th of the candidate, counted
--   ones first. Rules stay within one memory space and kind of allocation
--   unless they say otherwise; only rules 7 to 15 consider values that are not
--   counted. No rule prefers a side.
-- grain: pair of buffers
-- param base_ids BIGINT[] = NULL: Module contents of the base; NULL for none.
-- param candidate_ids BIGINT[] = NULL: Module contents of the candidate, in
--   the same order.
-- param base_arenas BIGINT[] = NULL from 0: Allocations of the base, see
--   compared_buffers.
-- param candidate_arenas BIGINT[] = NULL from 0: Allocations of the candidate,
--   in the same order.
-- param most BIGINT = 250 from 0: Values of an arena that are counted.
-- column pair BIGINT id neutral: Position of the pair in the lists.
-- column method VARCHAR name neutral: What is equal; output or none without a
--   partner.
-- column confidence DOUBLE score higher_is_better: Confidence of the match,
--   from 0 to 1.
-- column output_index VARCHAR name neutral: Of method output: index into the
--   result.
-- column base_place BIGINT id neutral: Place among those of its side, by
--   birth; NULL without one, as all of these.
-- column base_color INTEGER id neutral: Memory space.
-- column base_kind VARCHAR name neutral: Kind of allocation.
-- column base_allocation_id INTEGER id neutral: Its allocation.
-- column base_value_id INTEGER id neutral: Its value.
-- column base_instruction VARCHAR name neutral: Its instruction.
-- column base_opcode VARCHAR name neutral: Operation of that.
-- column base_op_path VARCHAR name neutral: Framework path.
-- column base_shape VARCHAR text neutral: Shape without layout.
-- column base_shape_index VARCHAR name neutral: Index into the result.
-- column base_parameter VARCHAR name neutral: Number and index of a parameter.
-- column base_offset_bytes BIGINT bytes neutral: Offset in the allocation.
-- column base_bytes BIGINT bytes neutral: Size in memory, padding included.
-- column base_logical_bytes BIGINT bytes neutral: Its data, without padding.
-- column base_start_step INTEGER step neutral: First step at which it is live.
-- column base_end_step INTEGER step neutral: The last.
-- column base_is_counted BOOLEAN flag neutral: Whether it fills the memory.
-- column base_owned_bytes BIGINT bytes neutral: Bytes that it owns.
-- column candidate_place BIGINT id neutral: Place among those of its side, by
--   birth; NULL without one, as all of these.
-- column candidate_color INTEGER id neutral: Memory space.
-- column candidate_kind VARCHAR name neutral: Kind of allocation.
-- column candidate_allocation_id INTEGER id neutral: Its allocation.
-- column candidate_value_id INTEGER id neutral: Its value.
-- column candidate_instruction VARCHAR name neutral: Its instruction.
-- column candidate_opcode VARCHAR name neutral: Operation of that.
-- column candidate_op_path VARCHAR name neutral: Framework path.
-- column candidate_shape VARCHAR text neutral: Shape without layout.
-- column candidate_shape_index VARCHAR name neutral: Index into the result.
-- column candidate_parameter VARCHAR name neutral: Number and index of a
--   parameter.
-- column candidate_offset_bytes BIGINT bytes neutral: Offset in the
--   allocation.
-- column candidate_bytes BIGINT bytes neutral: Size in memory, padding
--   included.
-- column candidate_logical_bytes BIGINT bytes neutral: Its data, without
--   padding.
-- column candidate_start_step INTEGER step neutral: First step at which it is
--   live.
-- column candidate_end_step INTEGER step neutral: The last.
-- column candidate_is_counted BOOLEAN flag neutral: Whether it fills the
--   memory.
-- column candidate_owned_bytes BIGINT bytes neutral: Bytes that it owns.
WITH RECURSIVE matched_pairs AS MATERIALIZED (
  -- Arguments are read inside of macros, where no CTE may have their names.
  SELECT
    unnest(range(1, len($base_ids) + 1)) AS pair,
    unnest($base_ids) AS base_id, unnest($candidate_ids) AS own_id,
    unnest($base_arenas) AS base_arena, unnest($candidate_arenas) AS own_arena
),
things AS MATERIALIZED (
  SELECT
    t.*,
    CASE
      WHEN t.array_type LIKE '(%' THEN NULL
      ELSE nullif(regexp_extract(t.array_type, '^([a-z]\w*)\[', 1), '')
    END AS element_type,
    CASE
      WHEN t.array_type LIKE '(%' OR t.array_type LIKE '%[]' THEN NULL
      ELSE string_split(
        regexp_extract(t.array_type, '\[([^\]]*)\]$', 1), ','
      )
    END AS dimensions
  FROM compared_buffers(
    base_ids := (
      SELECT list(p.base_id ORDER BY p.pair) FROM matched_pairs AS p
    ),
    candidate_ids := (
      SELECT list(p.own_id ORDER BY p.pair) FROM matched_pairs AS p
    ),
    base_arenas := (
      SELECT list(p.base_arena ORDER BY p.pair) FROM matched_pairs AS p
    ),
    candidate_arenas := (
      SELECT list(p.own_arena ORDER BY p.pair) FROM matched_pairs AS p
    )
  ) AS t
),
donated AS MATERIALIZED (
  SELECT t.pair, t.is_candidate, t.place, d.output_index
  FROM donation_changes(
    base_ids := (
      SELECT list(p.base_id ORDER BY p.pair) FROM matched_pairs AS p
    ),
    candidate_ids := (
      SELECT list(p.own_id ORDER BY p.pair) FROM matched_pairs AS p
    )
  ) AS d
  JOIN things AS t
    ON t.pair = d.pair
    AND t.is_candidate = d.is_lost
    AND t.allocation_id = d.allocation_id
    AND t.kind = 'live_out'
    AND t.is_counted
),
surely AS (
  SELECT
    t.pair, t.is_candidate, t.place, t.is_counted,
    [
      CASE WHEN t.parameter IS NOT NULL
        THEN hash(t.color, t.kind, t.parameter, t.op_path, t.array_type)
      END,
      CASE WHEN t.instruction IS NOT NULL
        THEN hash(
          t.color, t.kind, t.instruction, t.opcode, t.op_path, t.array_type,
          t.shape_index
        )
      END,
      CASE WHEN t.opcode IS NOT NULL
        THEN hash(
          t.color, t.kind, t.opcode, t.op_path, t.array_type, t.shape_index
        )
      END,
      CASE WHEN t.op_path IS NOT NULL
        THEN hash(t.color, t.kind, t.op_path, t.array_type)
      END,
      CASE WHEN t.parameter IS NOT NULL AND t.op_path IS NOT NULL
        THEN hash(t.color, t.kind, t.op_path, t.array_type)
      END,
      CASE WHEN t.parameter IS NOT NULL
        THEN hash(t.color, t.kind, t.parameter, t.array_type)
      END
    ] AS keys
  FROM things AS t
  ANTI JOIN donated AS d
    ON d.pair = t.pair
    AND d.is_candidate = t.is_candidate
    AND d.place = t.place
  WHERE t.is_counted
),
-- Who stands on a rung has found nobody on those above it.
sure_climb AS (
  SELECT
    1 AS rung, t.pair, t.is_candidate, t.place, t.is_counted, t.keys,
    CAST(NULL AS BIGINT) AS base_place, CAST(NULL AS BIGINT) AS own_place
  FROM surely AS t
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
        AND (w.base_place IS NULL OR w.own_place IS NULL)
    ) AS n
    WINDOW nth_of_key AS (PARTITION BY n.pair, n.key, n.ordinal)
    UNION ALL
    SELECT
      w.rung + 1, w.pair, w.is_candidate, w.place, w.is_counted, w.keys,
      NULL, NULL
    FROM sure_climb AS w
    WHERE w.rung <= len(w.keys)
      AND w.keys[w.rung] IS NULL
      AND (w.base_place IS NULL OR w.own_place IS NULL)
  )
),
sure_matches AS MATERIALIZED (
  SELECT c.pair, c.base_place, c.own_place, c.rung - 1 AS rung
  FROM sure_climb AS c
  WHERE c.is_candidate
    AND c.base_place IS NOT NULL
    AND c.own_place IS NOT NULL
),
done AS (
  SELECT m.pair, FALSE AS is_candidate, m.base_place AS place
  FROM sure_matches AS m
  UNION ALL
  SELECT m.pair, TRUE, m.own_place
  FROM sure_matches AS m
  UNION ALL
  SELECT d.pair, d.is_candidate, d.place
  FROM donated AS d
),
left_over AS MATERIALIZED (
  SELECT t.*
  FROM things AS t
  ANTI JOIN done AS d
    ON d.pair = t.pair
    AND d.is_candidate = t.is_candidate
    AND d.place = t.place
),
likely AS MATERIALIZED (
  SELECT
    t.pair, t.is_candidate, t.place, t.is_counted,
    [
      CASE WHEN t.instruction IS NOT NULL
        THEN hash(
          t.color, t.kind, t.instruction, t.opcode, t.op_path, t.array_type,
          t.shape_index
        )
      END,
      CASE WHEN t.opcode IS NOT NULL
        THEN hash(
          t.color, t.kind, t.opcode, t.op_path, t.array_type, t.shape_index
        )
      END,
      CASE WHEN t.op_path IS NOT NULL
        THEN hash(t.color, t.kind, t.op_path, t.array_type)
      END,
      CASE WHEN t.instruction IS NOT NULL
        THEN hash(t.color, t.instruction, t.opcode, t.op_path, t.array_type,
          t.shape_index
        )
      END,
      CASE WHEN t.opcode IS NOT NULL
        THEN hash(t.color, t.opcode, t.op_path, t.array_type, t.shape_index)
      END,
      CASE WHEN t.op_path IS NOT NULL
        THEN hash(t.color, t.op_path, t.array_type)
      END,
      CASE WHEN t.instruction IS NOT NULL
        THEN hash(t.instruction, t.opcode, t.op_path, t.array_type,
          t.shape_index
        )
      END,
      CASE WHEN t.opcode IS NOT NULL
        THEN hash(t.opcode, t.op_path, t.array_type, t.shape_index)
      END,
      CASE WHEN t.op_path IS NOT NULL
        THEN hash(t.op_path, t.array_type)
      END,
      CASE WHEN t.is_counted AND t.parameter IS NOT NULL
        THEN hash(t.color, t.kind, t.parameter, t.op_path)
      END,
      CASE WHEN t.is_counted AND t.op_path IS NOT NULL
        THEN hash(t.color, t.kind, t.op_path, t.opcode, t.shape_index)
      END
    ]
    -- Without one of the first eight dimensions.
    || list_transform(
      range(8),
      lambda d:
        CASE
          WHEN t.is_counted AND t.op_path IS NULL AND len(t.dimensions) > d
            THEN hash(
              t.color, t.kind, t.instruction, t.opcode, t.shape_index,
              t.element_type, t.dimensions[:d], t.dimensions[d + 2:]
            )
        END
    )
    || [
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
  FROM left_over AS t
  SEMI JOIN (SELECT o.pair FROM left_over AS o WHERE o.is_counted) AS o
    ON o.pair = t.pair
),
keyed AS MATERIALIZED (
  SELECT t.*, t.keys[t.rung] AS key
  FROM (
    SELECT
      y.*,
      unnest(range(1, CASE WHEN y.is_counted THEN len(y.keys) ELSE 9 END + 1))
        AS rung
    FROM likely AS y
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
    k.pair, k.is_candidate, k.place, k.is_counted,
    list(k.rung ORDER BY k.rung) AS rungs, list(k.key ORDER BY k.rung) AS keys
  FROM keyed AS k
  JOIN shared_keys AS s USING (pair, rung, key)
  GROUP BY k.pair, k.is_candidate, k.place, k.is_counted
),
likely_climb AS (
  SELECT
    1 AS rung, t.pair, t.is_candidate, t.place, t.is_counted, t.rungs, t.keys,
    CAST(NULL AS BIGINT) AS base_place, CAST(NULL AS BIGINT) AS own_place
  FROM climbers AS t
  UNION ALL
  (
    SELECT
      n.rung + 1, n.pair, n.is_candidate, n.place, n.is_counted, n.rungs[2:],
      n.keys[2:],
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
          ORDER BY w.is_counted DESC, w.place
        ) AS ordinal
      FROM likely_climb AS w
      WHERE w.rungs[1] = w.rung
        AND (w.base_place IS NULL OR w.own_place IS NULL)
    ) AS n
    WINDOW nth_left AS (PARTITION BY n.pair, n.keys[1], n.ordinal)
    UNION ALL
    SELECT
      w.rung + 1, w.pair, w.is_candidate, w.place, w.is_counted, w.rungs,
      w.keys, NULL, NULL
    FROM likely_climb AS w
    WHERE w.rungs[1] > w.rung
      AND (w.base_place IS NULL OR w.own_place IS NULL)
  )
),
likely_matches AS MATERIALIZED (
  SELECT c.pair, c.base_place, c.own_place, c.rung + 5 AS rung
  FROM likely_climb AS c
  WHERE c.is_candidate
    AND c.base_place IS NOT NULL
    AND c.own_place IS NOT NULL
),
couples AS (
  SELECT m.pair, m.base_place, m.own_place, m.rung, NULL AS output_index
  FROM sure_matches AS m
  UNION ALL
  SELECT m.pair, m.base_place, m.own_place, m.rung, NULL
  FROM likely_matches AS m
  UNION ALL
  SELECT
    d.pair, CASE WHEN NOT d.is_candidate THEN d.place END,
    CASE WHEN d.is_candidate THEN d.place END, NULL, d.output_index
  FROM donated AS d
  UNION ALL
  SELECT
    t.pair, CASE WHEN NOT t.is_candidate THEN t.place END,
    CASE WHEN t.is_candidate THEN t.place END, NULL, NULL
  FROM left_over AS t
  ANTI JOIN (
    SELECT x.pair, FALSE AS is_candidate, x.base_place AS place
    FROM likely_matches AS x
    UNION ALL
    SELECT x.pair, TRUE, x.own_place
    FROM likely_matches AS x
  ) AS m
    ON m.pair = t.pair
    AND m.is_candidate = t.is_candidate
    AND m.place = t.place
  WHERE t.is_counted
)
SELECT
  o.pair,
  CASE
    WHEN o.output_index IS NOT NULL THEN 'output'
    ELSE coalesce(r.method, 'none')
  END AS method,
  CASE
    WHEN o.output_index IS NOT NULL THEN 1.0
    ELSE coalesce(r.confidence, 0.0)
  END AS confidence,
  o.output_index,
  b.place AS base_place, b.color AS base_color, b.kind AS base_kind,
  b.allocation_id AS base_allocation_id, b.value_id AS base_value_id,
  b.instruction AS base_instruction, b.opcode AS base_opcode, b.op_path AS
  base_op_path, b.array_type AS base_shape, b.shape_index AS base_shape_index,
  b.parameter AS base_parameter, b.offset_bytes AS base_offset_bytes,
  b.size_bytes AS base_bytes, b.logical_bytes AS base_logical_bytes,
  b.start_step AS base_start_step, b.end_step AS base_end_step, b.is_counted
  AS base_is_counted, b.owned_bytes AS base_owned_bytes, c.place AS
  candidate_place, c.color AS candidate_color, c.kind AS candidate_kind,
  c.allocation_id AS candidate_allocation_id, c.value_id AS
  candidate_value_id, c.instruction AS candidate_instruction, c.opcode AS
  candidate_opcode, c.op_path AS candidate_op_path, c.array_type AS
  candidate_shape, c.shape_index AS candidate_shape_index, c.parameter AS
  candidate_parameter, c.offset_bytes AS candidate_offset_bytes, c.size_bytes
  AS candidate_bytes, c.logical_bytes AS candidate_logical_bytes, c.start_step
  AS candidate_start_step, c.end_step AS candidate_end_step, c.is_counted AS
  candidate_is_counted, c.owned_bytes AS candidate_owned_bytes
FROM couples AS o
LEFT JOIN buffer_rungs() AS r USING (rung)
LEFT JOIN things AS b
  ON b.pair = o.pair
  AND NOT b.is_candidate
  AND b.place = o.base_place
LEFT JOIN things AS c
  ON c.pair = o.pair
  AND c.is_candidate
  AND c.place = o.own_place
