-- title: Programs loaded on one device together
-- question: How much memory do several programs need if they stay loaded on
--   one device?
-- definition: All modules of a rank or host whose program matches the pattern,
--   per memory space, as if all were loaded and one ran at a time. Persistent
--   bytes are parameters and constants; transient bytes are the rest of
--   reserved_bytes. upper_bytes adds all persistent bytes and the greatest
--   transient part. lower_bytes counts persistent allocations with equal name,
--   shape and size in several modules only once, as one shared buffer; NULL if
--   the allocations of a module are pruned.
-- grain: rank, host, memory space
-- leading: rank, space_name, lower_bytes, upper_bytes, dominating_program,
--   persistent_bytes, transient_bytes, module_count
-- param run
-- param program VARCHAR = NULL: Regular expression that the whole program name
--   matches, such as jit_(train|eval); NULL for all programs.
-- column run
-- column rank
-- column color
-- column space_name
-- column module_count BIGINT count neutral: Modules that use the space.
-- column persistent_bytes BIGINT bytes lower_is_better: Parameters and
--   constants.
-- column shared_persistent_bytes BIGINT bytes lower_is_better: The same, with
--   equal allocations counted once; NULL if unknown.
-- column transient_bytes BIGINT bytes lower_is_better: Greatest transient part
--   of one module.
-- column lower_bytes BIGINT bytes lower_is_better: Need if equal persistent
--   allocations are shared; NULL if unknown.
-- column upper_bytes BIGINT bytes lower_is_better: Need if none are shared.
-- column dominating_program VARCHAR name neutral: Program with the greatest
--   transient part.
-- column host VARCHAR name neutral: Folder of the host, where only the folder
--   distinguishes hosts.
WITH memory AS (
  SELECT m.*, h.host
  FROM module_memory AS m
  JOIN selected_run() AS c USING (run_id)
  LEFT JOIN hosts() AS h
    ON h.run_id = m.run_id
    AND h.folder = regexp_replace(m.path, '[^/]*$', '')
  WHERE $program IS NULL
    OR regexp_full_match(m.program, $program)
),
held AS MATERIALIZED (
  SELECT
    m.rank, m.host, m.module_number, m.module_id, m.color AS space_color,
    m.space_name, a.allocation_id, a.size_bytes,
    a.shape,
    -- What a donated parameter holds later is called otherwise.
    coalesce(
      min(nullif(i.op_name, '')),
      min(v.instruction) FILTER (WHERE i.opcode IS NOT NULL),
      min(v.instruction)
    ) AS label
  FROM memory AS m
  JOIN allocations AS a USING (module_id, color)
  LEFT JOIN placed_values(program := NULL) AS v
    ON v.module_id = a.module_id
    AND v.allocation_id = a.allocation_id
  LEFT JOIN instructions AS i
    ON i.module_id = v.module_id
    AND i.instruction_id = v.instruction_id
    AND i.opcode = 'parameter'
  WHERE a.kind IN ('parameter', 'constant')
  GROUP BY ALL
),
copies AS (
  SELECT
    rank, host, space_color, space_name, label, shape, size_bytes,
    module_number, module_id, count(*) AS copy_count
  FROM held
  GROUP BY ALL
),
shared AS (
  SELECT
    rank, host, space_color, space_name, sum(shared_bytes) AS shared_bytes
  FROM (
    SELECT
      rank, host, space_color, space_name, label, shape, size_bytes,
      CAST(size_bytes AS HUGEINT) * max(copy_count) AS shared_bytes
    FROM copies
    GROUP BY rank, host, space_color, space_name, label, shape, size_bytes
  ) AS distinct_buffers
  GROUP BY rank, host, space_color, space_name
),
totals AS (
  SELECT
    m.run AS run_name, m.rank, m.host, m.color AS space_color, m.space_name,
    count(*) AS module_count,
    bool_and(
      m.parameter_bytes + m.constant_bytes = 0 OR d.module_id IS NOT NULL
    ) AS is_described,
    sum(m.parameter_bytes + m.constant_bytes) AS persistent,
    max(m.reserved_bytes - m.parameter_bytes - m.constant_bytes) AS transient,
    arg_max(
      m.program,
      (m.reserved_bytes - m.parameter_bytes - m.constant_bytes,
        -m.module_number)
    ) AS dominating_program
  FROM memory AS m
  LEFT JOIN (SELECT DISTINCT module_id FROM held) AS d USING (module_id)
  GROUP BY m.run, m.rank, m.host, m.color, m.space_name
)
SELECT
  t.run_name AS run, t.rank, t.space_color AS color, t.space_name,
  t.module_count,
  CAST(t.persistent AS BIGINT) AS persistent_bytes,
  CASE WHEN t.is_described THEN CAST(coalesce(s.shared_bytes, 0) AS BIGINT) END
    AS shared_persistent_bytes,
  t.transient AS transient_bytes,
  CASE WHEN t.is_described
    THEN CAST(coalesce(s.shared_bytes, 0) + t.transient AS BIGINT) END
    AS lower_bytes,
  CAST(t.persistent + t.transient AS BIGINT) AS upper_bytes,
  t.dominating_program, t.host
FROM totals AS t
LEFT JOIN shared AS s
  ON s.rank IS NOT DISTINCT FROM t.rank
  AND s.host IS NOT DISTINCT FROM t.host
  AND s.space_color = t.space_color
  AND s.space_name = t.space_name
ORDER BY upper_bytes DESC, t.rank, t.host, t.space_color
