-- title: Leverage of every set of values
-- question: How high is the live peak without these values, or with a part of
--   their bytes?
-- definition: The live peak as peak_leverage_of_sets defines it, for sets
--   that alone use some bytes at the peak; removing any other set does not
--   change the peak. It is the same for sets whose neighbours move apart. Of
--   a set there is one part, one whole and one is_apart.
-- grain: module content, source locations, memory space, set
-- param run
-- param program
-- param color
-- param member_modules BIGINT[] = NULL: Module contents of the values of the
--   sets, in any order; a value is there once for each set it is in.
-- param member_locations BIGINT[] = NULL: Their source locations, in the same
--   order.
-- param member_sets VARCHAR[] = NULL: The set that each is in.
-- param member_values BIGINT[] = NULL: Their value_id.
-- param member_parts BIGINT[] = NULL from 0: Of so many of the freed bytes,
-- param member_wholes BIGINT[] = NULL from 1: divided by so many,
--   part_peak_bytes is without; NULL for 1 of 2.
-- param member_apart BIGINT[] = NULL from 0 to 1: 1 where other values of an
--   allocation that is not temporary get memory of their own, so that all of
--   it is freed.
-- param member_from BIGINT[] = NULL from 0: First step at which each is
--   freed; NULL for its first.
-- param member_until BIGINT[] = NULL from 0: Last step at which each is; NULL
--   for its last.
-- column module_id
-- column locations_id
-- column color
-- column set_name VARCHAR name neutral: Its name.
-- column value_count BIGINT count neutral: Its values that are live at the
--   peak.
-- column owned_bytes BIGINT bytes lower_is_better: Bytes of the live peak that
--   they own.
-- column new_peak_bytes
-- column new_peak_step
-- column part_peak_bytes BIGINT bytes lower_is_better: Live peak if a part of
--   the bytes goes.
WITH chosen AS MATERIALIZED (
  SELECT DISTINCT
    m.module_id, m.locations_id, m.color AS space_color, m.peak_step,
    m.live_peak_bytes
  FROM selected_memory() AS m
  WHERE m.peak_step IS NOT NULL
),
members AS MATERIALIZED (
  SELECT
    unnest($member_modules) AS module_id,
    unnest($member_locations) AS locations_id,
    unnest($member_sets) AS name_of_set, unnest($member_values) AS value_id,
    coalesce(unnest($member_parts), 1) AS part,
    coalesce(unnest($member_wholes), 2) AS whole,
    coalesce(unnest($member_apart), 0) AS is_apart,
    unnest($member_from) AS from_step, unnest($member_until) AS until_step
),
owners AS MATERIALIZED (
  SELECT
    c.module_id, c.locations_id, c.space_color, c.peak_step,
    m.name_of_set, count(v.value_id) AS values_there,
    CAST(coalesce(sum(v.owned_bytes), 0) AS BIGINT) AS bytes_there,
    min(m.part) AS part, min(m.whole) AS whole, min(m.is_apart) AS is_apart,
    row_number() OVER () AS set_id
  FROM chosen AS c
  JOIN members AS m
    ON m.module_id = c.module_id
    AND m.locations_id IS NOT DISTINCT FROM c.locations_id
  LEFT JOIN peak_values() AS v
    ON v.module_id = c.module_id
    AND v.color = c.space_color
    AND v.value_id = m.value_id
  GROUP BY
    c.module_id, c.locations_id, c.space_color, c.peak_step, m.name_of_set
  HAVING count(v.value_id) > 0
    OR max(m.is_apart) = 1
),
curves AS MATERIALIZED (
  SELECT
    t.module_id, t.color AS space_color, t.from_step, t.live_bytes,
    lag(t.live_bytes, 1, 0) OVER same_space AS bytes_before,
    max(t.to_step) OVER (PARTITION BY t.module_id, t.color) AS last_step
  FROM memory_timeline AS t
  JOIN (SELECT DISTINCT module_id, space_color FROM chosen) AS c
    ON c.module_id = t.module_id
    AND c.space_color = t.color
  WINDOW same_space AS (
    PARTITION BY t.module_id, t.color ORDER BY t.from_step
  )
),
placed AS MATERIALIZED (
  SELECT
    *,
    kind <> 'temp' AND max(start_step) OVER (
      PARTITION BY module_id, allocation_id
    ) IS NULL AS is_standing
  FROM value_places()
  WHERE kind <> 'thread_local'
),
removed AS MATERIALIZED (
  SELECT
    o.set_id, v.module_id, v.allocation_id, v.value_id, v.kind,
    v.allocation_bytes, v.offset_bytes, v.size_bytes,
    v.start_step AS first_step,
    v.end_step AS final_step,
    greatest(v.start_step, m.from_step) AS start_step,
    least(v.end_step, m.until_step) AS end_step
  FROM owners AS o
  JOIN members AS m
    ON m.module_id = o.module_id
    AND m.locations_id IS NOT DISTINCT FROM o.locations_id
    AND m.name_of_set = o.name_of_set
  JOIN placed AS v
    ON v.module_id = m.module_id
    AND v.value_id = m.value_id
    AND v.color = o.space_color
),
overlapping AS MATERIALIZED (
  SELECT o.module_id FROM overlapping_modules() AS o
),
overlapped AS MATERIALIZED (
  SELECT v.*
  FROM placed AS v
  JOIN overlapping AS o USING (module_id)
  WHERE v.kind = 'temp'
    AND v.start_step IS NOT NULL
),
-- Steps of these between which nothing begins or ends.
pieces AS MATERIALIZED (
  SELECT
    module_id, allocation_id, step,
    lead(step) OVER (
      PARTITION BY module_id, allocation_id ORDER BY step
    ) - 1 AS until_step
  FROM (
    SELECT DISTINCT
      v.module_id, v.allocation_id,
      unnest([v.start_step, v.end_step + 1]) AS step
    FROM overlapped AS v
  )
),
-- Where one temporary value ends and another begins, both may hold a byte.
meetings AS MATERIALIZED (
  SELECT
    a.module_id, a.allocation_id, b.start_step AS step,
    b.start_step AS until_step, a.value_id AS ending_id,
    b.value_id AS starting_id,
    greatest(a.offset_bytes, b.offset_bytes) AS from_byte,
    least(a.offset_bytes + a.size_bytes, b.offset_bytes + b.size_bytes)
      AS to_byte
  FROM placed AS a
  JOIN placed AS b
    ON b.module_id = a.module_id
    AND b.allocation_id = a.allocation_id
    AND b.start_step = a.end_step
  WHERE a.kind = 'temp'
    AND b.value_id <> a.value_id
    AND b.offset_bytes < a.offset_bytes + a.size_bytes
    AND a.offset_bytes < b.offset_bytes + b.size_bytes
    AND a.module_id NOT IN (SELECT o.module_id FROM overlapping AS o)
  UNION ALL
  -- There they may do so for longer.
  SELECT
    a.module_id, a.allocation_id, p.step, p.until_step, a.value_id, b.value_id,
    greatest(a.offset_bytes, b.offset_bytes),
    least(a.offset_bytes + a.size_bytes, b.offset_bytes + b.size_bytes)
  FROM pieces AS p
  JOIN overlapped AS a
    ON a.module_id = p.module_id
    AND a.allocation_id = p.allocation_id
    AND p.step BETWEEN a.start_step AND a.end_step
  JOIN overlapped AS b
    ON b.module_id = p.module_id
    AND b.allocation_id = p.allocation_id
    AND p.step BETWEEN b.start_step AND b.end_step
  WHERE a.value_id < b.value_id
    AND b.offset_bytes < a.offset_bytes + a.size_bytes
    AND a.offset_bytes < b.offset_bytes + b.size_bytes
),
-- What stays as others hold it, or what a later value of the set frees.
shared AS (
  SELECT DISTINCT
    r.set_id, r.allocation_id, r.value_id,
    greatest(m.step, r.start_step) AS step,
    least(m.until_step, r.end_step) AS until_step, m.from_byte, m.to_byte
  FROM removed AS r
  JOIN (
    SELECT *, ending_id AS value_id, starting_id AS other_id FROM meetings
    UNION ALL
    SELECT *, starting_id, ending_id FROM meetings
  ) AS m
    ON m.module_id = r.module_id
    AND m.allocation_id = r.allocation_id
    AND m.value_id = r.value_id
    AND m.step <= r.end_step
    AND m.until_step >= r.start_step
  LEFT JOIN removed AS o
    ON o.set_id = r.set_id
    AND o.allocation_id = r.allocation_id
    AND o.value_id = m.other_id
    AND m.step BETWEEN o.start_step AND o.end_step
  WHERE o.value_id IS NULL
    OR o.value_id > r.value_id
),
reached AS (
  SELECT
    *,
    coalesce(max(to_byte) OVER (
      PARTITION BY set_id, allocation_id, value_id, step
      ORDER BY from_byte, to_byte
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), 0) AS covered_to
  FROM shared
),
kept AS (
  SELECT
    set_id, step, until_step,
    sum(greatest(0, to_byte - greatest(from_byte, covered_to))) AS kept_bytes
  FROM reached
  GROUP BY set_id, step, until_step
),
-- Parameters, constants and results go where nothing else is in their place.
standing_sets AS MATERIALIZED (
  SELECT DISTINCT
    r.set_id, o.is_apart, r.module_id, r.allocation_id, r.allocation_bytes,
    c.last_step
  FROM removed AS r
  JOIN owners AS o USING (set_id)
  JOIN curves AS c
    ON c.module_id = o.module_id
    AND c.space_color = o.space_color
  WHERE r.kind <> 'temp'
),
holders AS (
  SELECT
    s.set_id, s.is_apart, v.allocation_id, v.allocation_bytes, v.size_bytes,
    CASE
      WHEN v.is_standing THEN 0
      ELSE coalesce(r.start_step, v.start_step)
    END AS start_step,
    CASE
      WHEN v.is_standing THEN s.last_step
      ELSE coalesce(r.end_step, v.end_step)
    END AS end_step,
    r.value_id IS NULL AS is_other
  FROM standing_sets AS s
  JOIN placed AS v
    ON v.module_id = s.module_id
    AND v.allocation_id = s.allocation_id
  LEFT JOIN removed AS r
    ON r.set_id = s.set_id
    AND r.allocation_id = v.allocation_id
    AND r.value_id = v.value_id
  UNION ALL
  -- What is freed for a part of its time only, in the rest of it.
  SELECT
    r.set_id, s.is_apart, r.allocation_id, s.allocation_bytes, r.size_bytes,
    unnest([r.first_step, r.end_step + 1]),
    unnest([r.start_step - 1, r.final_step]), TRUE
  FROM removed AS r
  JOIN standing_sets AS s USING (set_id, allocation_id)
),
held AS (
  SELECT
    set_id, allocation_id, allocation_bytes, step,
    CASE
      WHEN sum(sum(other)) OVER in_place > 0 AND is_apart = 1
        THEN allocation_bytes - sum(sum(other_bytes)) OVER in_place
      WHEN sum(sum(other)) OVER in_place > 0 THEN 0
      WHEN sum(sum(own)) OVER in_place > 0 THEN allocation_bytes
      ELSE 0
    END AS freed_bytes
  FROM (
    SELECT
      set_id, is_apart, allocation_id, allocation_bytes, start_step AS step,
      CAST(NOT is_other AS TINYINT) AS own, CAST(is_other AS TINYINT) AS other,
      CASE WHEN is_other THEN size_bytes ELSE 0 END AS other_bytes
    FROM holders
    WHERE start_step <= end_step
    UNION ALL
    SELECT
      set_id, is_apart, allocation_id, allocation_bytes, end_step + 1,
      -CAST(NOT is_other AS TINYINT), -CAST(is_other AS TINYINT),
      CASE WHEN is_other THEN -size_bytes ELSE 0 END
    FROM holders
    WHERE start_step <= end_step
  )
  GROUP BY set_id, is_apart, allocation_id, allocation_bytes, step
  WINDOW in_place AS (
    PARTITION BY set_id, allocation_id ORDER BY step
  )
),
changes AS (
  SELECT set_id, start_step AS step, size_bytes AS change
  FROM removed
  WHERE kind = 'temp'
    AND start_step <= end_step
  UNION ALL
  SELECT set_id, end_step + 1, -size_bytes
  FROM removed
  WHERE kind = 'temp'
    AND start_step <= end_step
  UNION ALL
  SELECT set_id, step, -kept_bytes FROM kept
  UNION ALL
  SELECT set_id, until_step + 1, kept_bytes FROM kept
  UNION ALL
  SELECT
    set_id, step,
    freed_bytes - lag(freed_bytes, 1, 0) OVER (
      PARTITION BY set_id, allocation_id ORDER BY step
    )
  FROM held
),
freed AS (
  SELECT
    set_id, step,
    sum(sum(change)) OVER (PARTITION BY set_id ORDER BY step) AS freed_bytes
  FROM changes
  GROUP BY set_id, step
),
-- The new peak is at least what remains at the step of the old one: lower
-- stretches of the curve can't hold it, and are taken for 0.
bounds AS (
  SELECT
    o.set_id, o.module_id, o.space_color,
    arg_max(f.freed_bytes, f.step) AS freed_bytes
  FROM owners AS o
  JOIN freed AS f
    ON f.set_id = o.set_id
    AND f.step <= o.peak_step
  GROUP BY o.set_id, o.module_id, o.space_color
  HAVING arg_max(f.freed_bytes, f.step) > 0
),
steps AS (
  SELECT
    b.set_id, c.from_step AS step, NULL AS freed_bytes,
    CASE WHEN c.live_bytes >= l.live_peak_bytes - b.freed_bytes
      THEN c.live_bytes ELSE 0 END AS live_bytes
  FROM bounds AS b
  JOIN (
    SELECT DISTINCT module_id, space_color, live_peak_bytes FROM chosen
  ) AS l USING (module_id, space_color)
  JOIN curves AS c
    ON c.module_id = b.module_id
    AND c.space_color = b.space_color
    AND greatest(c.live_bytes, c.bytes_before)
      >= l.live_peak_bytes - b.freed_bytes
  UNION ALL
  SELECT DISTINCT b.set_id, c.last_step + 1, NULL, 0
  FROM bounds AS b
  JOIN curves AS c USING (module_id, space_color)
  UNION ALL
  SELECT f.set_id, f.step, f.freed_bytes, NULL
  FROM freed AS f
  JOIN bounds AS b USING (set_id)
),
levels AS (
  SELECT
    set_id, step,
    coalesce(last_value(max(live_bytes) IGNORE NULLS) OVER in_order, 0)
      AS live_bytes,
    coalesce(last_value(max(freed_bytes) IGNORE NULLS) OVER in_order, 0)
      AS freed_bytes
  FROM steps
  GROUP BY set_id, step
  WINDOW in_order AS (PARTITION BY set_id ORDER BY step)
),
remaining AS (
  SELECT
    l.set_id, max(l.live_bytes - l.freed_bytes) AS new_peak,
    arg_max(l.step, (l.live_bytes - l.freed_bytes, -l.step)) AS new_step,
    max(l.live_bytes - CAST(l.freed_bytes AS HUGEINT) * o.part // o.whole)
      AS part_peak
  FROM levels AS l
  JOIN owners AS o USING (set_id)
  GROUP BY l.set_id
)
SELECT
  o.module_id, o.locations_id, o.space_color AS color,
  o.name_of_set AS set_name, o.values_there AS value_count,
  o.bytes_there AS owned_bytes,
  CAST(r.new_peak AS BIGINT) AS new_peak_bytes,
  CAST(r.new_step AS INTEGER) AS new_peak_step,
  CAST(r.part_peak AS BIGINT) AS part_peak_bytes
FROM owners AS o
JOIN remaining AS r USING (set_id)
