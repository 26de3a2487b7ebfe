-- title: Does it fit at run time?
-- question: What takes memory of the device while a program runs, and what of
--   it is known?
-- definition: A row for each part. arguments and constants stay between runs
--   of the program; results and temporaries come and go; together they are
--   reserved_bytes of headroom. code is the machine code that memory_analysis
--   states. scratch is what kernels take outside of the buffer assignment
--   (run_time_memory), of which no dump says how much. other programs are the
--   arguments and constants that the other programs of the same rank keep
--   loaded, equal ones shared, as in coresident_peak. donation is what results
--   in the memory of arguments would take less (missed_donations), a negative
--   part that is in no sum. left_bytes is the limit less all known parts down
--   to this row. bytes is NULL where the part is there, but nobody knows its
--   size.
-- grain: module occurrence, memory space, part
-- leading: program, space_name, part, part_bytes, is_known, left_bytes, note
-- param run
-- param program
-- param color
-- param limit_bytes BIGINT = NULL from 0 to 1000000000000000000: Memory of the
--   memory space, color 0 unless color is set; NULL for the limit that is
--   known of it, see memory_limits.
-- param limit_devices
-- param limit_spaces
-- param limit_sizes
-- column run
-- column program
-- column module_number
-- column rank
-- column color
-- column space_name
-- column part VARCHAR name neutral: arguments, constants, results,
--   temporaries, code, scratch, other programs or donation.
-- column part_bytes BIGINT bytes lower_is_better: Bytes of the part; NULL if
--   they are not known.
-- column is_known BOOLEAN flag neutral: Whether they are known.
-- column usable_bytes BIGINT bytes neutral: The limit.
-- column left_bytes BIGINT bytes higher_is_better: Limit less the known parts
--   so far; NULL without a limit.
-- column note VARCHAR text neutral: Where the part is from, or why it is not
--   known.
-- column path
WITH judged AS MATERIALIZED (
  SELECT h.*, m.module_id, m.run_id
  FROM headroom() AS h
  JOIN selected_run() AS c ON TRUE
  JOIN module_memory AS m
    ON m.run_id = c.run_id
    AND m.path = h.path
    AND m.color = h.color
    AND m.program = h.program
),
profiles AS (
  SELECT j.*, p.parameter_bytes, p.constant_bytes, p.live_out_bytes,
    j.reserved_bytes - p.parameter_bytes - p.constant_bytes
    - p.live_out_bytes AS temporary_bytes
  FROM judged AS j
  JOIN memory_profile AS p
    ON p.module_id = j.module_id
    AND p.color = j.color
),
codes AS (
  SELECT m.run_id, m.module_id, max(y.generated_code_bytes) AS bytes
  FROM memory_analysis AS y
  JOIN modules AS m
    ON m.run_id = y.run_id
    AND m.name = y.module_name
    AND m.folder = regexp_replace(y.path, '[^/]*$', '')
  GROUP BY m.run_id, m.module_id
),
loaded AS MATERIALIZED (
  SELECT * FROM coresident_peak(program := NULL)
),
wasted AS (
  SELECT d.module_id, d.color, sum(d.size_bytes) AS bytes
  FROM missed_donations() AS d
  GROUP BY d.module_id, d.color
),
parts AS (
  SELECT p.*, 1 AS place, 'arguments' AS part, p.parameter_bytes AS bytes,
    'stay between runs, but for inputs and what is donated' AS note
  FROM profiles AS p
  UNION ALL
  SELECT p.*, 2, 'constants', p.constant_bytes, 'stay between runs'
  FROM profiles AS p
  UNION ALL
  SELECT p.*, 3, 'results', p.live_out_bytes, 'without those in arguments'
  FROM profiles AS p
  UNION ALL
  SELECT p.*, 4, 'temporaries', p.temporary_bytes, 'while it runs'
  FROM profiles AS p
  UNION ALL
  SELECT p.*, 5, 'code', c.bytes,
    CASE WHEN c.bytes IS NULL
      THEN 'not in a dump: hlodb.capture keeps memory_analysis()'
      ELSE 'of memory_analysis()' END
  FROM profiles AS p
  LEFT JOIN codes AS c
    ON c.run_id = p.run_id
    AND c.module_id = p.module_id
  WHERE p.color = 0
  UNION ALL
  SELECT p.*, 6, 'scratch', NULL, t.caveat
  FROM profiles AS p
  JOIN run_time_memory() AS t ON t.module_id = p.module_id
  WHERE p.color = 0
  UNION ALL
  SELECT
    p.*, 7, 'other programs',
    greatest(
      0, o.shared_persistent_bytes - p.parameter_bytes - p.constant_bytes
    ),
    (o.module_count - 1) || ' of this run, if all stay loaded'
  FROM profiles AS p
  JOIN loaded AS o
    ON o.run = p.run
    AND o.rank IS NOT DISTINCT FROM p.rank
    AND o.host IS NULL
    AND o.color = p.color
    AND o.module_count > 1
  UNION ALL
  SELECT p.*, 8, 'donation', -w.bytes, 'less if all that can be is donated'
  FROM profiles AS p
  JOIN wasted AS w
    ON w.module_id = p.module_id
    AND w.color = p.color
)
SELECT
  q.run, q.program, q.module_number, q.rank, q.color, q.space_name, q.part,
  CAST(q.bytes AS BIGINT) AS part_bytes, q.bytes IS NOT NULL AS is_known,
  q.usable_bytes,
  CAST(q.usable_bytes - sum(
    CASE WHEN q.part <> 'donation' THEN coalesce(q.bytes, 0) ELSE 0 END
  ) OVER (
    PARTITION BY q.path, q.color, q.program, q.module_number ORDER BY q.place
  ) AS BIGINT) AS left_bytes, q.note, q.path
FROM parts AS q
ORDER BY
  q.reserved_bytes DESC, q.program, q.module_number, q.rank, q.color, q.path,
  q.place
