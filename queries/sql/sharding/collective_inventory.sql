-- title: Collectives
-- question: Which collectives does a program have, among how many devices, and
--   how often do they run?
-- definition: Collectives in the last snapshot of every module; start and done
--   count as one, and so do the parts of async_collectives. operand_bytes are
--   the logical sizes of the operands. payload_bytes are the result of an
--   all-gather (operands times group size), the first operand of a
--   ragged-all-to-all (the others are its result and the addresses), and
--   otherwise the operands. wire_bytes are what a device sends in a ring of n:
--   all-reduce 2(n-1)/n, all-gather (n-1)/n of the result, reduce-scatter and
--   all-to-all (n-1)/n, ragged-all-to-all at most that, permute and broadcast
--   everything; nothing in groups of one. times is the product of the known
--   trip counts of the loops around it.
-- grain: module occurrence, collective
-- leading: program, instruction, opcode, payload_bytes, total_wire_bytes,
--   times, group_size, group_count
-- param run
-- param program
-- param top
-- column run
-- column program
-- column module_number
-- column rank
-- column instruction
-- column opcode
-- column is_async BOOLEAN flag neutral: Whether it is a start with a done
--   elsewhere, or the operation that such a start calls.
-- column group_count BIGINT count neutral: Number of groups; for a permute, of
--   the sets of devices that its pairs connect, such as rings.
-- column group_size BIGINT count neutral: Devices of the largest group.
-- column channel_id BIGINT id neutral: XLA's channel number.
-- column operand_bytes BIGINT bytes lower_is_better: Sizes of its operands.
-- column payload_bytes BIGINT bytes lower_is_better: Bytes that it moves.
-- column wire_bytes BIGINT bytes lower_is_better: Bytes that a device sends.
-- column times BIGINT count lower_is_better: Executions in one run of the
--   program.
-- column times_known BOOLEAN flag neutral: Whether the trip counts of all
--   loops around it are known.
-- column total_wire_bytes BIGINT bytes lower_is_better: wire_bytes times the
--   number of executions.
-- column op_name
-- column source_file
-- column source_line
WITH there AS MATERIALIZED (
  -- Fixed, and of modules that are unnested and so taken for a few: else the
  -- instructions of all modules meet all operands.
  SELECT
    i.module_id, i.instruction_id, i.name, i.computation_id, i.form_id
  FROM (
    SELECT unnest(list(DISTINCT module_id)) AS module_id
    FROM final_modules()
  ) AS m
  JOIN store.instructions AS i USING (module_id)
),
collectives AS (
  SELECT
    m.run AS run_name, m.program AS program_name, m.module_number, m.rank,
    m.module_id, m.locations_id, i.instruction_id, i.name, i.computation_id,
    regexp_replace(f.opcode, '-start$', '') AS opcode,
    f.opcode LIKE '%-start' OR coalesce(c.kind = 'async', FALSE)
      OR a.part IS NOT NULL AS is_async,
    f.channel_id, f.op_name, g.group_count, g.group_size
  FROM final_modules() AS m
  JOIN replica_groups() AS g USING (module_id)
  JOIN there AS i USING (module_id, instruction_id)
  -- LEFT, lest all instructions meet their forms first.
  LEFT JOIN store.instruction_forms AS f USING (form_id)
  LEFT JOIN computations AS c USING (module_id, computation_id)
  LEFT JOIN async_collectives() AS a
    USING (module_id, instruction_id)
  WHERE coalesce(a.part, 'start') = 'start'
),
read AS (
  SELECT
    c.module_id, c.instruction_id, sum(f.logical_bytes) AS operand_bytes,
    sum(f.logical_bytes) FILTER (WHERE p.operand_index = 0) AS first_bytes
  FROM (SELECT DISTINCT module_id, instruction_id FROM collectives) AS c
  JOIN operands AS p USING (module_id, instruction_id)
  JOIN there AS o
    ON o.module_id = p.module_id
    AND o.instruction_id = p.operand_id
  LEFT JOIN store.instruction_forms AS f USING (form_id)
  GROUP BY c.module_id, c.instruction_id
),
moved AS (
  SELECT
    c.*, coalesce(r.operand_bytes, 0) AS operand_bytes,
    CASE c.opcode
      WHEN 'all-gather' THEN coalesce(r.operand_bytes, 0) * c.group_size
      WHEN 'ragged-all-to-all' THEN coalesce(r.first_bytes, 0)
      ELSE coalesce(r.operand_bytes, 0)
    END AS payload_bytes
  FROM collectives AS c
  LEFT JOIN read AS r USING (module_id, instruction_id)
),
wired AS (
  SELECT
    *,
    CASE
      WHEN opcode = 'all-reduce'
        THEN payload_bytes * 2 * (group_size - 1) // group_size
      WHEN opcode IN ('collective-permute', 'collective-broadcast')
        AND group_size > 1
        THEN payload_bytes
      ELSE payload_bytes * (group_size - 1) // group_size
    END AS wire_bytes
  FROM moved
)
SELECT
  w.run_name AS run, w.program_name AS program, w.module_number, w.rank,
  w.name AS instruction, w.opcode, w.is_async, w.group_count, w.group_size,
  w.channel_id, CAST(w.operand_bytes AS BIGINT) AS operand_bytes,
  CAST(w.payload_bytes AS BIGINT) AS payload_bytes,
  CAST(w.wire_bytes AS BIGINT) AS wire_bytes, coalesce(t.times, 1) AS times,
  coalesce(t.is_known, FALSE) AS times_known,
  CAST(w.wire_bytes * coalesce(t.times, 1) AS BIGINT) AS total_wire_bytes,
  w.op_name, s.source_file, s.source_line
FROM wired AS w
LEFT JOIN multiplicity() AS t
  ON t.module_id = w.module_id
  AND t.computation_id = w.computation_id
LEFT JOIN instruction_sources() AS s
  ON s.module_id = w.module_id
  AND s.locations_id = w.locations_id
  AND s.instruction_id = w.instruction_id
ORDER BY
  total_wire_bytes DESC, w.program_name, w.module_number, w.rank,
  w.instruction_id
LIMIT $top
