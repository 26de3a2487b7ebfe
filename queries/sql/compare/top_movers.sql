-- title: Common causes of growth
-- question: Which causes made the most programs grow, and by how much?
-- definition: Programs and memory spaces that are worse or mixed in
--   peak_regressions, grouped by cause: the op_name of the buffers that add
--   the most memory to the program (greatest sum of delta_bytes in
--   buffer_diff), or (packing) if fragmentation adds more. A program counts
--   once, by the rank or host that grew the most; programs that share a name,
--   such as lambdas, count each (program_kinds). sum_delta_bytes adds up the
--   differences of the programs in one memory space.
-- grain: cause, memory space
-- leading: cause, color, program_count, sum_delta_bytes, max_delta_bytes,
--   worst_program
-- param base
-- param candidate
-- param program
-- param min_delta_bytes
-- param min_delta_ratio
-- param top
-- column cause VARCHAR name neutral: Framework path, or (packing).
-- column color
-- column program_count BIGINT count lower_is_better: Programs that grew.
-- column module_count BIGINT count lower_is_better: Modules that grew, on all
--   ranks and hosts.
-- column sum_delta_bytes BIGINT bytes lower_is_better: Growth of all these
--   programs.
-- column max_delta_bytes BIGINT bytes lower_is_better: Growth of the program
--   that grew the most.
-- column worst_program VARCHAR name neutral: Program that grew the most.
WITH judged AS MATERIALIZED (
  SELECT
    r.candidate AS candidate_run, r.program AS program_name, r.rank,
    r.module_number, r.color AS space_color, r.module_count,
    r.delta_reserved_bytes,
    unnest(coalesce(string_split(r.hosts, ', '), [NULL])) AS host,
    row_number() OVER () AS finding
  FROM peak_regressions() AS r
  WHERE r.verdict IN ('worse', 'mixed')
),
own AS MATERIALIZED (
  SELECT r.run_id
  FROM runs AS r
  WHERE r.name IN (SELECT j.candidate_run FROM judged AS j)
),
kinds AS MATERIALIZED (
  SELECT
    k.program AS program_name, k.rank, k.module_number, h.host,
    min(k.kind) AS kind
  FROM program_kinds(
    run_ids := (SELECT list(o.run_id) FROM own AS o), program := NULL
  ) AS k
  LEFT JOIN hosts(run_ids := (SELECT list(o.run_id) FROM own AS o)) AS h
    ON h.run_id = k.run_id
    AND h.folder = k.folder
  GROUP BY ALL
),
kinded AS MATERIALIZED (
  SELECT j.*, coalesce(k.kind, 0) AS kind
  FROM judged AS j
  LEFT JOIN kinds AS k
    ON k.program_name = j.program_name
    AND k.rank IS NOT DISTINCT FROM j.rank
    AND k.module_number IS NOT DISTINCT FROM j.module_number
    AND k.host IS NOT DISTINCT FROM j.host
),
counts AS (
  SELECT
    f.program_name, f.kind, f.space_color, sum(f.module_count) AS module_count
  FROM (
    SELECT DISTINCT finding, program_name, kind, space_color, module_count
    FROM kinded
  ) AS f
  GROUP BY f.program_name, f.kind, f.space_color
),
grown AS (
  SELECT
    j.program_name, j.kind, j.rank, j.space_color, c.module_count,
    sum(j.delta_reserved_bytes) AS delta_bytes
  FROM kinded AS j
  JOIN counts AS c USING (program_name, kind, space_color)
  GROUP BY
    j.program_name, j.kind, j.rank, j.host, j.space_color, c.module_count
  QUALIFY row_number() OVER (
    PARTITION BY j.program_name, j.kind, j.space_color
    ORDER BY delta_bytes DESC, j.rank, j.host
  ) = 1
),
buffers AS (
  SELECT
    b.program AS program_name, n.kind, b.rank, b.color AS space_color,
    coalesce(
      nullif(regexp_replace(
        coalesce(b.op_name, b.op_path),
        '([_.\[])[0-9]+([/)\]]|$)', '\1*\2', 'g'
      ), ''),
      CASE
        WHEN b.part = 'fragmentation' THEN '(packing)'
        ELSE '(' || coalesce(b.opcode, b.part) || ')'
      END
    ) AS op_path,
    sum(b.delta_bytes) AS path_delta
  FROM buffer_diff(top := NULL) AS b
  JOIN (
    SELECT DISTINCT program_name, rank, module_number, kind FROM kinded
  ) AS n
    ON n.program_name = b.program
    AND n.rank IS NOT DISTINCT FROM b.rank
    AND n.module_number IS NOT DISTINCT FROM b.module_number
  GROUP BY ALL
),
causes AS (
  SELECT
    program_name, kind, rank, space_color, op_path,
    row_number() OVER (
      PARTITION BY program_name, kind, rank, space_color
      ORDER BY path_delta DESC, op_path
    ) AS place
  FROM buffers
  WHERE path_delta > 0
)
SELECT
  coalesce(c.op_path, '(packing)') AS cause,
  g.space_color AS color, count(*) AS program_count,
  CAST(sum(g.module_count) AS BIGINT) AS module_count,
  CAST(sum(g.delta_bytes) AS BIGINT) AS sum_delta_bytes,
  CAST(max(g.delta_bytes) AS BIGINT) AS max_delta_bytes,
  arg_max(g.program_name, (g.delta_bytes, g.program_name)) AS worst_program
FROM grown AS g
LEFT JOIN causes AS c
  ON c.program_name = g.program_name
  AND c.kind = g.kind
  AND c.rank IS NOT DISTINCT FROM g.rank
  AND c.space_color = g.space_color
  AND c.place = 1
GROUP BY cause, g.space_color
ORDER BY sum_delta_bytes DESC, cause, g.space_color
LIMIT $top
