-- title: Largest buffers of a program that ran out of memory
-- question: Which buffers filled the memory, how much of each is padding, and
--   which source line made it?
-- definition: The buffers that reports of running out of memory list, the
--   largest first. data_bytes is their size without padding; both are printed
--   to a few digits. capacity_ratio is the size as a share of what the memory
--   space holds. A source line that the report lacks is that of the
--   instruction in a dump, or else of its first readers, up to four steps
--   away: of the program that the message names, else of the only program of
--   the run that has it in that shape. tile_use is what the data fill of the
--   layout's tiles.
-- grain: report of a log, buffer
-- leading: instruction, label, space_name, size_bytes, shape,
--   op_name, source_file, source_line
-- param run
-- param top BIGINT = NULL from 0: At most this many buffers per report; NULL
--   for all, or for 20 where hlodb query prints a table.
-- column run
-- column path VARCHAR name neutral: The log inside the run.
-- column ordinal INTEGER id neutral: Which report of that file, from 0.
-- column space_name
-- column place BIGINT id neutral: Place by size, from 1.
-- column instruction
-- column kind VARCHAR name neutral: parameter, or the type that the report
--   states, such as HLO temp.
-- column label VARCHAR text neutral: XLA's text of it, also where it is no
--   instruction, such as slots of the register allocator.
-- column shape
-- column size_bytes BIGINT bytes lower_is_better: Its size.
-- column data_bytes BIGINT bytes neutral: Its size without padding; NULL where
--   the report does not say.
-- column padding_bytes BIGINT bytes lower_is_better: The difference.
-- column padding_ratio DOUBLE ratio lower_is_better: Its share of size_bytes.
-- column tile_use VARCHAR text neutral: Such as 64 of 128 lanes, the most
--   minor dimension; NULL where dimensions fill the tile, or it is not known.
-- column is_copy BOOLEAN flag neutral: Whether it is a copy of a parameter.
-- column capacity_ratio DOUBLE ratio neutral: Share of the memory space.
-- column op_name
-- column source_file
-- column source_line
WITH RECURSIVE ranked AS (
  SELECT
    r.run AS run_name, o.space_name, o.capacity_bytes, o.program_name, b.*,
    coalesce(
      b.instruction, nullif(regexp_extract(b.label, '^%?([^ ]+) = ', 1), '')
    ) AS named_instruction,
    regexp_replace(b.shape, '\{[^}]*\}', '', 'g') AS plain_shape,
    row_number() OVER (
      PARTITION BY b.path, b.ordinal ORDER BY b.size_bytes DESC, b.place
    ) AS size_place
  FROM selected_run() AS r
  JOIN oom_buffers AS b USING (run_id)
  JOIN oom_reports AS o
    ON o.run_id = b.run_id
    AND o.path = b.path
    AND o.ordinal = b.ordinal
),
tiled AS (
  SELECT
    path, ordinal, size_place,
    TRY_CAST(
      string_split(regexp_extract(shape, '\[([0-9,]*)\]', 1), ',')[
        TRY_CAST(regexp_extract(shape, '\]\{([0-9]+)', 1) AS BIGINT) + 1
      ] AS BIGINT
    ) AS lane_count,
    nullif(TRY_CAST(
      regexp_extract(shape, ':T\((?:[0-9]+,)+([0-9]+)\)', 1) AS BIGINT
    ), 0) AS lanes
  FROM ranked
),
matched AS MATERIALIZED (
  SELECT
    b.path AS log_path, b.ordinal, b.size_place, m.program, m.module_id,
    m.run_id AS other_id, m.run_id = b.run_id AS is_own, m.path AS dump_path,
    i.instruction_id
  FROM ranked AS b
  JOIN instructions AS i
    ON i.name = b.named_instruction
    AND (
      regexp_replace(i.shape, '\{[^}]*\}', '', 'g') = b.plain_shape
      -- What an asynchronous operation makes comes first in its result.
      OR starts_with(
        regexp_replace(i.shape, '\{[^}]*\}', '', 'g'),
        '(' || b.plain_shape || ','
      )
    )
  JOIN modules AS m
    ON m.module_id = i.module_id
    AND m.stage = 'after_optimizations'
    AND (
      b.program_name IN (m.program, m.name)
      OR (b.program_name IS NULL AND m.run_id = b.run_id)
    )
  WHERE b.source_file IS NULL
),
located AS MATERIALIZED (
  SELECT
    l.run_id, l.module_id, l.instruction_id, l.source_file, l.source_line
  FROM (SELECT DISTINCT other_id, module_id FROM matched) AS m
  JOIN located_instructions AS l
    ON l.run_id = m.other_id
    AND l.module_id = m.module_id
  WHERE l.source_file IS NOT NULL
),
reading AS (
  SELECT DISTINCT
    other_id, module_id, instruction_id AS from_id, instruction_id AS at_id,
    0 AS depth
  FROM matched
  UNION
  SELECT
    r.other_id, r.module_id, r.from_id, o.instruction_id, r.depth + 1
  FROM reading AS r
  JOIN operands AS o
    ON o.module_id = r.module_id
    AND o.operand_id = r.at_id
  ANTI JOIN located AS l
    ON l.run_id = r.other_id
    AND l.module_id = r.module_id
    AND l.instruction_id = r.at_id
  WHERE r.depth < 4
),
dumped AS (
  SELECT
    m.log_path, m.ordinal, m.size_place,
    arg_max(
      {'source_file': l.source_file, 'source_line': l.source_line},
      (m.is_own, m.other_id, m.dump_path, -r.depth, -r.at_id)
    ) AS found
  FROM matched AS m
  JOIN reading AS r
    ON r.other_id = m.other_id
    AND r.module_id = m.module_id
    AND r.from_id = m.instruction_id
  JOIN located AS l
    ON l.run_id = r.other_id
    AND l.module_id = r.module_id
    AND l.instruction_id = r.at_id
  GROUP BY m.log_path, m.ordinal, m.size_place
  HAVING count(DISTINCT m.program) = 1
)
SELECT
  b.run_name AS run, b.path, b.ordinal, b.space_name, b.size_place AS place,
  b.named_instruction AS instruction,
  CASE WHEN b.is_parameter THEN 'parameter' ELSE b.allocation_type END AS kind,
  b.label, b.shape, b.size_bytes, b.unpadded_bytes AS data_bytes,
  b.size_bytes - b.unpadded_bytes AS padding_bytes,
  (b.size_bytes - b.unpadded_bytes) / nullif(b.size_bytes, 0)
    AS padding_ratio,
  CASE WHEN t.lane_count % t.lanes > 0 THEN t.lane_count || ' of '
    || (t.lane_count + t.lanes - 1) // t.lanes * t.lanes || ' lanes' END
    AS tile_use,
  coalesce(
    regexp_matches(b.label, ' = (\S+ )?copy\(%?p(aram)?[._0-9]')
      AND b.op_name NOT LIKE '%/%', FALSE
  ) AS is_copy,
  b.size_bytes / nullif(b.capacity_bytes, 0) AS capacity_ratio,
  b.op_name, coalesce(b.source_file, d.found.source_file) AS source_file,
  CASE
    WHEN b.source_file IS NULL THEN d.found.source_line
    ELSE b.source_line
  END AS source_line
FROM tiled AS t
JOIN ranked AS b USING (path, ordinal, size_place)
LEFT JOIN dumped AS d
  ON d.log_path = b.path
  AND d.ordinal = b.ordinal
  AND d.size_place = b.size_place
WHERE $top IS NULL
  OR b.size_place <= $top
ORDER BY b.path, b.ordinal, b.size_place
