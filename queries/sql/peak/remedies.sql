-- title: What to change so that the peak falls
-- question: Which changes to the program make its reserved memory and its live
--   peak fall, and by how much?
-- definition: Where a remedy of remedy_rules applies to values with its mark
--   (remedy_marks says what these are). saved_bytes is what the live peak of
--   the memory space falls by without them, or without that part of them,
--   computed over the whole schedule with everything else as it is
--   (set_leverage); saved_reserved_bytes is what reserved_bytes falls by, and
--   comes first, as limits are compared with it. Remedies that change the
--   whole computation (is_last_resort) come after all others. The compiler may
--   choose otherwise afterwards. What is recomputed, offloaded or gathered
--   later is held for a while: at most this is saved. Where an argument is
--   sharded, the compiler may shard its gradients, too, and then saves about
--   most_saved_reserved_bytes. Do not add the savings of several remedies.
--   Without a color, the main memory (color 0) is meant: the compiler fills
--   other memory spaces on purpose.
-- grain: module occurrence, memory space, remedy, subject
-- leading: program, space_name, saved_reserved_bytes, saved_bytes, subject,
--   advice
-- steps: chosen_memory, marked_values, pooled_values, remedy_members,
--   remedy_prices, remedy_lines
-- param run
-- param program
-- param color
-- param min_ratio DOUBLE = 0.01 from 0 to 1: Only what saves at least this
--   share of the live peak.
-- param top BIGINT = NULL from 0: At most this many remedies per module and
--   memory space; NULL for all, or for 20 where hlodb query prints a table.
-- column run
-- column program
-- column module_number
-- column rank
-- column color
-- column space_name
-- column rule_id VARCHAR name neutral: The remedy.
-- column subject VARCHAR text neutral: The arguments, values or instruction to
--   change.
-- column source_file
-- column source_line
-- column saved_reserved_bytes BIGINT bytes higher_is_better: What
--   reserved_bytes falls by.
-- column saved_bytes BIGINT bytes higher_is_better: What the live peak falls
--   by.
-- column most_saved_reserved_bytes BIGINT bytes higher_is_better: What
--   reserved_bytes falls by if temporary arrays of the argument's dimensions
--   are sharded, too; NULL where that adds less than a hundredth.
-- column most_saved_bytes BIGINT bytes higher_is_better: What the live peak
--   falls by then; NULL where that adds less than a hundredth.
-- column saved_ratio DOUBLE ratio higher_is_better: Its share of
--   live_peak_bytes.
-- column saved_reserved_ratio DOUBLE ratio higher_is_better: Share of
--   reserved_bytes that saved_reserved_bytes is.
-- column live_peak_bytes
-- column reserved_bytes
-- column is_last_resort BOOLEAN flag neutral: Whether it changes what is
--   computed as a whole, such as the batch; these come last.
-- column advice VARCHAR text neutral: What to change.
-- column cost VARCHAR text neutral: What it costs.
-- column parameters VARCHAR text neutral: Numbers of the entry parameters
--   among the values, such as 0,3; NULL without any.
-- column results VARCHAR text neutral: Numbers of the program's results among
--   the values; NULL without any.
-- column path
WITH chunks AS (
  SELECT m.module_id, m.set_name, max(m.chunk) AS chunk
  FROM remedy_members AS m
  GROUP BY m.module_id, m.set_name
),
given AS (
  SELECT
    m.module_id, m.set_name,
    list_sort(list_distinct(list(e.parameter_number))) AS numbers
  FROM remedy_members AS m
  JOIN entry_parameters() AS e USING (module_id, instruction_id)
  GROUP BY m.module_id, m.set_name
),
returned AS (
  SELECT
    m.module_id, m.set_name,
    list_sort(list_distinct(list(
      CAST(coalesce(nullif(regexp_extract(r.output_index, '\d+'), ''), '0')
        AS INTEGER)
    ))) AS numbers
  FROM remedy_members AS m
  JOIN result_places() AS r USING (module_id, value_id)
  GROUP BY m.module_id, m.set_name
),
-- What is recomputed is there again when the backward pass reads it: where
-- most of it is read at once, as of one block, it goes for the time between.
held_again AS (
  SELECT r.module_id, r.locations_id, r.space_color, r.set_name,
    o.part_peak_bytes, o.part_reserved_bytes
  FROM remedy_prices AS r
  JOIN remedy_prices AS o
    ON o.module_id = r.module_id
    AND o.locations_id IS NOT DISTINCT FROM r.locations_id
    AND o.space_color = r.space_color
    AND o.rule_id = 'offload'
    AND 3 * o.part_reserved_bytes < 2 * r.part_reserved_bytes
  WHERE r.rule_id = 'recompute'
),
found AS (
  SELECT
    c.*, p.rule_id, p.subject,
    c.live_peak_bytes
      - coalesce(h.part_peak_bytes, p.part_peak_bytes, c.live_peak_bytes)
      AS saved,
    greatest(0, coalesce(h.part_reserved_bytes, p.part_reserved_bytes))
      AS spared,
    q.part_reserved_bytes AS most_spared,
    c.live_peak_bytes - q.part_peak_bytes AS most_saved,
    l.found.source_file,
    l.found.source_line, array_to_string(g.numbers, ',') AS parameters,
    array_to_string(o.numbers, ',') AS results, k.chunk,
    regexp_replace(p.subject, 'all of | \([^)]*\)', '', 'g') AS names
  FROM chosen_memory AS c
  JOIN remedy_prices AS p
    ON p.module_id = c.module_id
    AND p.locations_id IS NOT DISTINCT FROM c.locations_id
    AND p.space_color = c.color
  LEFT JOIN held_again AS h
    ON h.module_id = p.module_id
    AND h.locations_id IS NOT DISTINCT FROM p.locations_id
    AND h.space_color = p.space_color
    AND h.set_name = p.set_name
  LEFT JOIN remedy_prices AS q
    ON q.module_id = p.module_id
    AND q.locations_id IS NOT DISTINCT FROM p.locations_id
    AND q.space_color = p.space_color
    AND q.rule_id = 'shard_at_most'
    AND q.subject = p.subject
    AND p.rule_id = 'shard'
  LEFT JOIN remedy_lines AS l
    ON l.module_id = p.module_id
    AND l.locations_id IS NOT DISTINCT FROM p.locations_id
    AND l.set_name = p.set_name
  LEFT JOIN chunks AS k
    ON k.module_id = p.module_id
    AND k.set_name = p.set_name
  LEFT JOIN given AS g
    ON g.module_id = p.module_id
    AND g.set_name = p.set_name
  LEFT JOIN returned AS o
    ON o.module_id = p.module_id
    AND o.set_name = p.set_name
),
ranked AS (
  SELECT
    f.*,
    replace(
      replace(r.advice, '{chunk}', coalesce(CAST(f.chunk AS VARCHAR), '')),
      '{donation}',
      CASE
        -- Of *args, which have no name that jax.jit takes.
        WHEN regexp_matches(f.names, '\bargs\b') THEN 'donate_argnums=…'
        WHEN regexp_full_match(f.names, '\w+')
          THEN 'donate_argnames="' || f.names || '"'
        WHEN regexp_full_match(f.names, '\w+(, \w+)*')
          THEN 'donate_argnames=("' || replace(f.names, ', ', '", "') || '")'
        ELSE 'donate_argnums=…'
      END
    ) AS advice,
    r.cost, r.is_last_resort,
    row_number() OVER (
      PARTITION BY f.occurrence, f.color
      ORDER BY
        r.is_last_resort, f.spared DESC, f.saved DESC, r.place, f.subject
    ) AS remedy_place
  FROM found AS f
  JOIN remedy_rules() AS r USING (rule_id)
  WHERE greatest(f.saved, f.spared) > 0
    AND (
      f.saved >= $min_ratio * f.live_peak_bytes
      OR f.spared >= $min_ratio * f.reserved_bytes
    )
)
SELECT
  r.run, r.program, r.module_number, r.rank, r.color, r.space_name, r.rule_id,
  r.subject, r.source_file, r.source_line,
  CAST(r.spared AS BIGINT) AS saved_reserved_bytes,
  CAST(r.saved AS BIGINT) AS saved_bytes,
  CAST(
    CASE WHEN r.most_spared > 1.01 * r.spared THEN r.most_spared END AS BIGINT
  ) AS most_saved_reserved_bytes,
  CAST(
    CASE WHEN r.most_saved > 1.01 * r.saved THEN r.most_saved END AS BIGINT
  ) AS most_saved_bytes,
  r.saved / r.live_peak_bytes AS saved_ratio,
  r.spared / r.reserved_bytes AS saved_reserved_ratio, r.live_peak_bytes,
  r.reserved_bytes, r.is_last_resort, r.advice, r.cost, r.parameters,
  r.results, r.path
FROM ranked AS r
WHERE $top IS NULL
  OR r.remedy_place <= $top
ORDER BY
  r.live_peak_bytes DESC, r.program, r.module_number, r.rank, r.occurrence,
  r.color, r.remedy_place
