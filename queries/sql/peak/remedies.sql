-- title: What to change so that the peak falls
-- question: Which changes to the program make its live peak fall, and by how
--   much?
-- definition: Where a remedy of remedy_rules applies. saved_bytes is what the
--   live peak of the memory space falls by, computed over the whole schedule
--   with everything else as it is; the compiler may choose otherwise
--   afterwards. donate: all pairs of missed_donation_value, without the
--   results' own allocations from the last use of the argument on. recompute:
--   without all temporary values made forward and last read backward
--   (value_phases); at most this is saved, as what is recomputed is held for a
--   while.
--   halve_element: all values of an element type at half their size. shard: a
--   parameter of replicated_tensors with as many shards as partitions.
--   fill_tile: one value of two dimensions or more without its padding. Do not
--   add the savings of several remedies. Without a color, the main memory
--   (color 0) is meant: the compiler fills other memory spaces on purpose.
-- grain: module occurrence, memory space, remedy, subject
-- leading: program, space_name, saved_bytes, saved_ratio, subject, advice
-- param run
-- param program
-- param color
-- param min_ratio DOUBLE = 0.01 from 0 to 1: Only what saves at least this
--   share of the live peak.
-- param top BIGINT = 20 from 0: At most this many remedies per module and
--   memory space; NULL for all.
-- column run
-- column program
-- column module_number
-- column rank
-- column color
-- column space_name
-- column rule_id VARCHAR name neutral: The remedy.
-- column subject VARCHAR text neutral: The arguments, values or instruction to
--   change.
-- column saved_bytes BIGINT bytes higher_is_better: What the live peak falls
--   by.
-- column saved_ratio DOUBLE ratio higher_is_better: Its share of
--   live_peak_bytes.
-- column live_peak_bytes
-- column advice VARCHAR text neutral: What to change.
-- column cost VARCHAR text neutral: What it costs.
WITH chosen AS MATERIALIZED (
  SELECT m.*
  FROM selected_memory(color := coalesce($color, 0)) AS m
  WHERE m.live_peak_bytes > 0
),
contents AS MATERIALIZED (
  SELECT DISTINCT c.module_id, c.locations_id, c.color AS space_color
  FROM chosen AS c
),
placed AS MATERIALIZED (
  SELECT
    c.locations_id, v.*
  FROM contents AS c
  JOIN value_places() AS v
    ON v.module_id = c.module_id
    AND v.color = c.space_color
),
missed AS MATERIALIZED (
  SELECT DISTINCT
    c.module_id, c.locations_id, o.allocation_id, d.parameter_number,
    d.last_use_step,
    coalesce(d.op_name, 'parameter ' || d.parameter_number || CASE
      WHEN d.parameter_index = '{}' THEN '' ELSE d.parameter_index END
    ) AS argument
  FROM missed_donation_value() AS d
  JOIN chosen AS c
    ON c.program = d.program
    AND c.module_number IS NOT DISTINCT FROM d.module_number
    AND c.rank IS NOT DISTINCT FROM d.rank
    AND c.color = d.color
  JOIN result_places() AS o
    ON o.module_id = c.module_id
    AND o.output_index = d.output_index
),
-- A result takes the argument's memory once nobody reads the argument. What
-- its own allocation holds before, such as a gradient, needs memory anyway.
tenants AS MATERIALIZED (
  SELECT
    v.module_id, v.locations_id, v.allocation_id, v.allocation_bytes,
    v.size_bytes, v.start_step, v.end_step,
    v.start_step >= coalesce(d.last_use_step, 0) AS is_moved
  FROM placed AS v
  JOIN missed AS d
    ON d.module_id = v.module_id
    AND d.locations_id IS NOT DISTINCT FROM v.locations_id
    AND d.allocation_id = v.allocation_id
  WHERE v.start_step IS NOT NULL
),
held AS (
  SELECT
    e.module_id, e.locations_id, e.allocation_id, e.allocation_bytes, e.step,
    CAST(sum(sum(e.change)) OVER same_place > 0 AS TINYINT) AS is_held
  FROM (
    SELECT *, start_step AS step, 1 AS change FROM tenants
    UNION ALL
    SELECT *, end_step + 1, -1 FROM tenants
  ) AS e
  GROUP BY
    e.module_id, e.locations_id, e.allocation_id, e.allocation_bytes, e.step
  WINDOW same_place AS (
    PARTITION BY e.module_id, e.locations_id, e.allocation_id ORDER BY e.step
  )
),
donation_changes AS (
  SELECT
    h.module_id, h.locations_id, h.step,
    h.allocation_bytes * (h.is_held - lag(h.is_held, 1, 0) OVER (
      PARTITION BY h.module_id, h.locations_id, h.allocation_id
      ORDER BY h.step
    )) AS change
  FROM held AS h
  UNION ALL
  SELECT t.module_id, t.locations_id, t.start_step, -t.size_bytes
  FROM tenants AS t
  WHERE NOT t.is_moved
  UNION ALL
  SELECT t.module_id, t.locations_id, t.end_step + 1, t.size_bytes
  FROM tenants AS t
  WHERE NOT t.is_moved
),
donation_steps AS (
  SELECT
    d.module_id, d.locations_id, d.step,
    sum(sum(d.change)) OVER (
      PARTITION BY d.module_id, d.locations_id ORDER BY d.step
    ) AS freed_bytes,
    NULL AS live_bytes
  FROM donation_changes AS d
  GROUP BY d.module_id, d.locations_id, d.step
  UNION ALL
  SELECT c.module_id, c.locations_id, t.from_step, NULL, t.live_bytes
  FROM contents AS c
  JOIN memory_timeline AS t
    ON t.module_id = c.module_id
    AND t.color = c.space_color
  UNION ALL
  SELECT c.module_id, c.locations_id, max(t.to_step) + 1, NULL, 0
  FROM contents AS c
  JOIN memory_timeline AS t
    ON t.module_id = c.module_id
    AND t.color = c.space_color
  GROUP BY c.module_id, c.locations_id
),
donation_levels AS (
  SELECT
    s.module_id, s.locations_id,
    coalesce(last_value(max(s.live_bytes) IGNORE NULLS) OVER in_order, 0)
      - coalesce(last_value(max(s.freed_bytes) IGNORE NULLS) OVER in_order, 0)
      AS left_bytes
  FROM donation_steps AS s
  GROUP BY s.module_id, s.locations_id, s.step
  WINDOW in_order AS (
    PARTITION BY s.module_id, s.locations_id ORDER BY s.step
  )
),
donations AS (
  SELECT
    l.module_id, l.locations_id, max(l.left_bytes) AS new_peak_bytes
  FROM donation_levels AS l
  GROUP BY l.module_id, l.locations_id
),
-- Values that follow one another in the same bytes: a loop that fills an array
-- has one for each form that the array has on its way.
followed AS (
  SELECT
    v.*,
    coalesce(v.start_step > max(v.end_step) OVER (
      PARTITION BY
        v.module_id, v.locations_id, v.allocation_id, v.offset_bytes,
        v.size_bytes
      ORDER BY v.start_step, v.end_step, v.value_id
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
    ), TRUE) AS is_first
  FROM placed AS v
  WHERE v.kind = 'temp'
    AND v.start_step IS NOT NULL
),
chains AS MATERIALIZED (
  SELECT
    v.*,
    sum(CAST(v.is_first AS INTEGER)) OVER (
      PARTITION BY
        v.module_id, v.locations_id, v.allocation_id, v.offset_bytes,
        v.size_bytes
      ORDER BY v.start_step, v.end_step, v.value_id
    ) AS chain
  FROM followed AS v
),
saved AS MATERIALIZED (
  SELECT v.module_id, v.locations_id, v.value_id
  FROM (
    SELECT
      c.module_id, c.locations_id, c.value_id,
      bool_or(p.made_in = 'forward' AND p.last_read_in = 'backward') OVER (
        PARTITION BY
          c.module_id, c.locations_id, c.allocation_id, c.offset_bytes,
          c.size_bytes, c.chain
      ) AS is_saved
    FROM chains AS c
    JOIN value_phases() AS p
      ON p.module_id = c.module_id
      AND p.value_id = c.value_id
  ) AS v
  WHERE v.is_saved
),
sets AS MATERIALIZED (
  SELECT
    'recompute' AS rule_id, 'all saved activations' AS part, v.module_id,
    v.locations_id, v.value_id
  FROM saved AS v
  UNION ALL
  SELECT
    'halve_element',
    'all values of ' || regexp_extract(v.shape, '^([a-z][a-z0-9]*)\[', 1),
    v.module_id, v.locations_id, v.value_id
  FROM placed AS v
  WHERE regexp_matches(v.shape, '^(f32|f64|s64|u64|c128)\[')
    AND v.kind <> 'thread_local'
),
members AS MATERIALIZED (
  SELECT
    s.module_id, s.locations_id, s.rule_id || '|' || s.part AS set_name,
    s.value_id, row_number() OVER () AS place
  FROM sets AS s
),
priced AS MATERIALIZED (
  SELECT
    s.module_id, s.locations_id, s.color AS space_color,
    split_part(s.set_name, '|', 1) AS rule_id,
    split_part(s.set_name, '|', 2) AS part,
    s.new_peak_bytes, s.half_peak_bytes
  FROM set_leverage(
    color := coalesce($color, 0),
    member_modules := (SELECT list(v.module_id ORDER BY v.place) FROM members
      AS v),
    member_locations := (SELECT list(v.locations_id ORDER BY v.place)
      FROM members AS v),
    member_sets := (SELECT list(v.set_name ORDER BY v.place) FROM members
      AS v),
    member_values := (SELECT list(v.value_id ORDER BY v.place) FROM members
      AS v)
  ) AS s
),
falls AS MATERIALIZED (
  SELECT * FROM value_leverage()
),
named AS (
  SELECT
    d.module_id, d.locations_id,
    string_agg(d.argument, ', ' ORDER BY d.parameter_number)
      FILTER (WHERE d.argument_place <= 3)
    || CASE WHEN count(*) > 3 THEN ' and ' || (count(*) - 3) || ' more'
      ELSE '' END AS arguments
  FROM (
    SELECT
      module_id, locations_id, argument, parameter_number,
      row_number() OVER (
        PARTITION BY module_id, locations_id ORDER BY parameter_number
      ) AS argument_place
    FROM (
      SELECT DISTINCT
        d.module_id, d.locations_id, d.argument, d.parameter_number
      FROM missed AS d
    )
  ) AS d
  GROUP BY d.module_id, d.locations_id
),
found AS (
  SELECT
    p.rule_id, c.occurrence, c.color AS space_color, p.part AS subject,
    c.live_peak_bytes - CASE p.rule_id
      WHEN 'halve_element' THEN p.half_peak_bytes ELSE p.new_peak_bytes
    END AS saved
  FROM chosen AS c
  JOIN priced AS p
    ON p.module_id = c.module_id
    AND p.locations_id IS NOT DISTINCT FROM c.locations_id
    AND p.space_color = c.color
  UNION ALL
  SELECT
    'donate', c.occurrence, c.color, n.arguments,
    c.live_peak_bytes - d.new_peak_bytes
  FROM chosen AS c
  JOIN donations AS d
    ON d.module_id = c.module_id
    AND d.locations_id IS NOT DISTINCT FROM c.locations_id
  JOIN named AS n
    ON n.module_id = c.module_id
    AND n.locations_id IS NOT DISTINCT FROM c.locations_id
  UNION ALL
  SELECT
    'shard', c.occurrence, c.color,
    coalesce(t.op_name, 'parameter ' || t.parameter_number),
    least(t.saving_bytes, f.leverage_bytes)
  FROM chosen AS c
  JOIN replicated_tensors(top := NULL) AS t
    ON t.program = c.program
    AND t.module_number IS NOT DISTINCT FROM c.module_number
    AND t.rank IS NOT DISTINCT FROM c.rank
  JOIN allocations AS a
    ON a.module_id = c.module_id
    AND a.color = c.color
    AND a.parameter_number = t.parameter_number
    AND a.size_bytes = t.device_bytes
  JOIN (
    SELECT
      v.module_id, v.allocation_id, max(v.leverage_bytes) AS leverage_bytes
    FROM falls AS v
    GROUP BY v.module_id, v.allocation_id
  ) AS f
    ON f.module_id = a.module_id
    AND f.allocation_id = a.allocation_id
  UNION ALL
  SELECT
    'fill_tile', c.occurrence, c.color, i.name || ' ' || v.shape,
    least(v.size_bytes - v.logical_bytes, f.leverage_bytes)
  FROM chosen AS c
  JOIN placed AS v
    ON v.module_id = c.module_id
    AND v.locations_id IS NOT DISTINCT FROM c.locations_id
    AND v.color = c.color
  JOIN falls AS f
    ON f.module_id = v.module_id
    AND f.color = v.color
    AND f.allocation_id = v.allocation_id
    AND f.value_id = v.value_id
  JOIN instructions AS i
    ON i.module_id = v.module_id
    AND i.instruction_id = v.instruction_id
  WHERE v.size_bytes > v.logical_bytes
    -- A scalar or a vector fills no tile, whatever its length.
    AND regexp_matches(v.shape, '^[a-z0-9]+\[[0-9]+,[0-9,]+\]\{.*:T\(')
),
ranked AS (
  SELECT
    c.*, f.rule_id, f.subject, f.saved, r.advice, r.cost,
    row_number() OVER (
      PARTITION BY c.occurrence, c.color
      ORDER BY f.saved DESC, r.place, f.subject
    ) AS remedy_place
  FROM chosen AS c
  JOIN found AS f
    ON f.occurrence = c.occurrence
    AND f.space_color = c.color
  JOIN remedy_rules() AS r USING (rule_id)
  WHERE f.saved > 0
    AND f.saved >= $min_ratio * c.live_peak_bytes
)
SELECT
  r.run, r.program, r.module_number, r.rank, r.color, r.space_name, r.rule_id,
  r.subject, CAST(r.saved AS BIGINT) AS saved_bytes,
  r.saved / r.live_peak_bytes AS saved_ratio, r.live_peak_bytes, r.advice,
  r.cost
FROM ranked AS r
WHERE $top IS NULL
  OR r.remedy_place <= $top
ORDER BY
  r.live_peak_bytes DESC, r.program, r.module_number, r.rank, r.occurrence,
  r.color, r.remedy_place
