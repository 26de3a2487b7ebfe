-- title: Collectives that differ between ranks
-- question: Do all ranks issue the same sequence of collectives, or may they
--   hang?
-- definition: The sequence of collectives of each module in schedule order
--   (opcode, channel, replica groups, source-target pairs, shape; the parts of
--   async_collectives as one), compared with that of the lowest rank. Forms of
--   replica groups that list the same devices (device_groups) are equal, as
--   are pairs in another order. Modules
--   of different ranks are matched by program_key (entry shapes and
--   num_partitions), the n-th by number on each rank; unmatched modules are
--   then compared by position. One row per rank that differs, with the first
--   difference; matching := true adds ranks that agree. Runs of one rank give
--   no rows.
-- grain: program, module, rank
-- leading: program, rank, is_same, collective_count, first_divergence,
--   expected, found
-- param run
-- param program
-- param matching BOOLEAN = false: Include ranks that agree.
-- column run
-- column program
-- column module_number
-- column rank
-- column is_same BOOLEAN flag higher_is_better: Whether the sequences agree.
-- column collective_count BIGINT count neutral: Collectives of the rank.
-- column first_divergence BIGINT count neutral: Position of the first
--   difference in the sequence, from 0.
-- column divergence_step INTEGER step neutral: Step of the rank's collective
--   at that position.
-- column expected VARCHAR text neutral: Collective of the lowest rank; NULL
--   after its end.
-- column found VARCHAR text neutral: Collective of this rank; NULL after its
--   end.
WITH keyed AS (
  SELECT
    m.run AS run_name, m.program AS program_name, m.module_number, m.rank,
    m.module_id, m.path,
    CASE WHEN min(m.rank) OVER same_shapes < max(m.rank) OVER same_shapes
      THEN o.program_key END AS shared_key
  FROM final_modules() AS m
  JOIN (
    SELECT DISTINCT run_id, module_id, path, modules.program, program_key
    FROM modules
  ) AS o
    ON o.run_id = m.run_id
    AND o.module_id = m.module_id
    AND o.path = m.path
    AND o.program = m.program
  WHERE m.rank IS NOT NULL
  WINDOW same_shapes AS (PARTITION BY m.program, o.program_key)
),
numbered AS (
  SELECT
    *,
    dense_rank() OVER (
      PARTITION BY program_name, shared_key, rank ORDER BY module_number, path
    ) AS nth
  FROM keyed
),
modules_of_ranks AS (
  SELECT
    run_name, program_name, module_number, rank, module_id,
    dense_rank() OVER (
      PARTITION BY program_name ORDER BY shared_key, nth
    ) AS ordinal
  FROM numbered
),
leaders AS (
  SELECT program_name, ordinal, min(rank) AS lead_rank, count(*) AS rank_count
  FROM modules_of_ranks
  GROUP BY program_name, ordinal
  HAVING count(*) > 1
),
sequences AS (
  SELECT
    m.program_name, m.ordinal, m.rank,
    coalesce(i.schedule_step, a.step) AS schedule_step,
    row_number() OVER (
      PARTITION BY m.program_name, m.ordinal, m.rank
      ORDER BY coalesce(i.schedule_step, a.step), i.instruction_id
    ) - 1 AS place,
    concat_ws(
      ' ', i.opcode, 'channel ' || i.channel_id, i.replica_groups,
      nullif(
        regexp_extract(
          i.attributes, 'source_target_pairs=(\{[0-9{}, ]*\})', 1
        ), ''
      ),
      regexp_replace(i.shape, '\{[^}]*\}', '', 'g')
    ) AS label,
    concat_ws(
      ' ', i.opcode, 'channel ' || i.channel_id, d.device_groups,
      list_sort(regexp_extract_all(
        replace(
          regexp_extract(
            i.attributes, 'source_target_pairs=\{([0-9{}, ]*)\}', 1
          ), ' ', ''
        ), '\{[^}]*\}'
      )),
      regexp_replace(i.shape, '\{[^}]*\}', '', 'g')
    ) AS meaning
  FROM modules_of_ranks AS m
  JOIN replica_groups() AS g USING (module_id)
  JOIN instructions AS i USING (module_id, instruction_id)
  LEFT JOIN device_groups() AS d
    ON d.replica_groups = g.replica_groups
  LEFT JOIN async_collectives() AS a
    USING (module_id, instruction_id)
  WHERE coalesce(a.part, 'start') = 'start'
),
expected_ones AS (
  SELECT s.program_name, s.ordinal, s.place, s.label, s.meaning
  FROM sequences AS s
  JOIN leaders AS l
    ON l.program_name = s.program_name
    AND l.ordinal = s.ordinal
    AND l.lead_rank = s.rank
),
places AS (
  SELECT m.program_name, m.ordinal, m.rank, s.place
  FROM modules_of_ranks AS m
  JOIN sequences AS s
    ON s.program_name = m.program_name
    AND s.ordinal = m.ordinal
    AND s.rank = m.rank
  UNION
  SELECT m.program_name, m.ordinal, m.rank, e.place
  FROM modules_of_ranks AS m
  JOIN expected_ones AS e
    ON e.program_name = m.program_name
    AND e.ordinal = m.ordinal
),
compared AS (
  SELECT
    p.program_name, p.ordinal, p.rank, p.place, e.label AS expected,
    s.label AS found, s.schedule_step,
    row_number() OVER (
      PARTITION BY p.program_name, p.ordinal, p.rank
      ORDER BY e.meaning IS NOT DISTINCT FROM s.meaning, p.place
    ) AS nearest,
    count(s.label) OVER (
      PARTITION BY p.program_name, p.ordinal, p.rank
    ) AS collective_count,
    e.meaning IS NOT DISTINCT FROM s.meaning AS is_equal
  FROM places AS p
  LEFT JOIN expected_ones AS e
    ON e.program_name = p.program_name
    AND e.ordinal = p.ordinal
    AND e.place = p.place
  LEFT JOIN sequences AS s
    ON s.program_name = p.program_name
    AND s.ordinal = p.ordinal
    AND s.rank = p.rank
    AND s.place = p.place
)
SELECT
  m.run_name AS run, m.program_name AS program, m.module_number, m.rank,
  coalesce(c.is_equal, TRUE) AS is_same,
  coalesce(c.collective_count, 0) AS collective_count,
  CASE WHEN NOT c.is_equal THEN c.place END AS first_divergence,
  CASE WHEN NOT c.is_equal THEN c.schedule_step END AS divergence_step,
  CASE WHEN NOT c.is_equal THEN c.expected END AS expected,
  CASE WHEN NOT c.is_equal THEN c.found END AS found
FROM modules_of_ranks AS m
JOIN leaders AS l USING (program_name, ordinal)
LEFT JOIN compared AS c
  ON c.program_name = m.program_name
  AND c.ordinal = m.ordinal
  AND c.rank = m.rank
  AND c.nearest = 1
WHERE NOT coalesce(c.is_equal, TRUE)
  OR $matching
ORDER BY is_same, m.program_name, m.module_number, m.rank, m.ordinal
