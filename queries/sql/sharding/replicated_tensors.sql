-- title: Replicated parameters
-- question: Which large parameters are replicated, or split into fewer shards
--   than possible?
-- definition: Entry parameters of modules with several partitions, by their
--   sharding and its shards (sharding_splits). device_bytes is the size of
--   the allocation on one device, or of the shape if there is no assignment;
--   saving_bytes is the saving if there were as many shards as partitions.
--   Shardings that do not describe data (manual, unknown) are left out.
-- grain: module occurrence, parameter
-- leading: program, op_name, saving_bytes, device_bytes, sharding, partitions,
--   shape
-- param run
-- param program
-- param min_bytes BIGINT = 0 from 0: Only parameters of at least this size.
-- param top
-- column run
-- column program
-- column module_number
-- column rank
-- column parameter_number INTEGER id neutral: The entry parameter.
-- column op_name
-- column shape VARCHAR text neutral: Shape on one device.
-- column sharding VARCHAR text neutral: Sharding as printed.
-- column shards BIGINT count higher_is_better: Number of parts that the data
--   is split into.
-- column partitions BIGINT count neutral: Partitions of the module.
-- column device_bytes BIGINT bytes lower_is_better: Bytes on one device.
-- column saving_bytes BIGINT bytes higher_is_better: Saving there with full
--   sharding.
WITH parameters AS (
  SELECT
    m.run AS run_name, m.program AS program_name, m.module_number, m.rank,
    m.module_id, n.num_partitions, i.instruction_id, i.parameter_number,
    i.op_name, i.shape, i.sharding, i.logical_bytes
  FROM final_modules() AS m
  JOIN modules AS n
    ON n.run_id = m.run_id
    AND n.module_id = m.module_id
    AND n.path = m.path
  JOIN instructions AS i
    ON i.module_id = m.module_id
    AND i.computation_id = n.entry_computation_id
  WHERE i.opcode = 'parameter'
    AND i.sharding IS NOT NULL
    AND n.num_partitions > 1
),
sized AS (
  SELECT
    p.*, c.shards, coalesce(a.size_bytes, p.logical_bytes) AS device_bytes
  FROM parameters AS p
  JOIN sharding_splits() AS c USING (sharding)
  LEFT JOIN (
    SELECT module_id, parameter_number, sum(size_bytes) AS size_bytes
    FROM allocations
    WHERE parameter_number IS NOT NULL
    GROUP BY module_id, parameter_number
  ) AS a USING (module_id, parameter_number)
)
SELECT
  s.run_name AS run, s.program_name AS program, s.module_number, s.rank,
  s.parameter_number, s.op_name, s.shape, s.sharding,
  CAST(s.shards AS BIGINT) AS shards,
  CAST(s.num_partitions AS BIGINT) AS partitions,
  CAST(s.device_bytes AS BIGINT) AS device_bytes,
  CAST(s.device_bytes - s.device_bytes * s.shards // s.num_partitions
    AS BIGINT)
    AS saving_bytes
FROM sized AS s
WHERE s.shards < s.num_partitions
  AND s.device_bytes >= $min_bytes
ORDER BY
  saving_bytes DESC, s.program_name, s.module_number, s.rank,
  s.parameter_number
LIMIT $top
