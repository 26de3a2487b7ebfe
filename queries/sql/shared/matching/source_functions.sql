-- title: Functions that modules were compiled from
-- question: Which modules of a run that share a name come from one function?
-- definition: Modules of one name, rank and host are of one function if they
--   have a place in the source in common, directly or through others of that
--   name: the function of the program's own name where the dump names one
--   (stack frames), or else the source lines of their instructions, outside of
--   framework files. So the lambdas of JAX are distinguished by where they are
--   written. Modules without any such place are left out.
-- grain: compiled module
-- param run_ids BIGINT[] = NULL from 0: Numbers of the runs; NULL for the
--   latest run.
-- column run_id
-- column place BIGINT id neutral: Its place among the modules of the run, see
--   compilations.
-- column function_place BIGINT id neutral: The least place of those of the
--   same function.
WITH RECURSIVE there AS MATERIALIZED (
  SELECT
    c.run_id, c.place, c.program AS program_name, c.rank, c.folder,
    c.locations_id,
    regexp_replace(c.program, '^(jit|pjit|pmap|xmap)_+', '') AS function
  FROM compilations(run_ids := $run_ids) AS c
  WHERE c.locations_id IS NOT NULL
  QUALIFY count(*) OVER (PARTITION BY c.run_id, c.program) > 1
),
lines AS MATERIALIZED (
  SELECT DISTINCT
    t.locations_id,
    coalesce(u.file_name, l.source_file) AS source_file,
    coalesce(u.line, l.source_line) AS source_line
  FROM (SELECT DISTINCT locations_id FROM there) AS t
  JOIN store.location_sets AS s USING (locations_id)
  JOIN store.location_lists AS l USING (list_id)
  LEFT JOIN stack_frames AS f
    ON f.locations_id = t.locations_id
    AND f.stack_frame_id = l.stack_frame_id
  LEFT JOIN stack_frames AS u
    ON u.locations_id = t.locations_id
    AND u.stack_frame_id = f.user_frame_id
),
files AS MATERIALIZED (
  SELECT d.source_file
  FROM (SELECT DISTINCT source_file FROM lines) AS d
  ANTI JOIN framework_files() AS p ON contains(d.source_file, p.fragment)
  WHERE d.source_file NOT IN ('', 'dummy_file_name')
),
named AS MATERIALIZED (
  SELECT DISTINCT
    t.run_id, t.place, hash(f.file_name, t.function) AS source_place
  FROM there AS t
  JOIN stack_frames AS f
    ON f.locations_id = t.locations_id
    AND regexp_extract(f.function_name, '[^.]*$') = t.function
),
places AS MATERIALIZED (
  SELECT t.run_id, t.place, t.program_name, t.rank, t.folder, n.source_place
  FROM there AS t
  JOIN named AS n USING (run_id, place)
  UNION
  SELECT
    t.run_id, t.place, t.program_name, t.rank, t.folder,
    hash(l.source_file, l.source_line)
  FROM there AS t
  JOIN lines AS l USING (locations_id)
  JOIN files AS f USING (source_file)
  ANTI JOIN named AS n
    ON n.run_id = t.run_id
    AND n.place = t.place
  WHERE l.source_line IS NOT NULL
),
links AS MATERIALIZED (
  -- To the first module with that place: enough to connect all of them.
  SELECT DISTINCT
    run_id, place,
    min(place) OVER (
      PARTITION BY run_id, program_name, rank, folder, source_place
    ) AS other
  FROM places
),
both_ways AS MATERIALIZED (
  SELECT run_id, place, other FROM links
  UNION
  SELECT run_id, other, place FROM links
),
functions USING KEY (run_id, place) AS (
  SELECT DISTINCT run_id, place, place AS function_place FROM places
  UNION ALL
  SELECT
    f.run_id, b.other AS place, min(f.function_place) AS function_place
  FROM functions AS f
  JOIN both_ways AS b USING (run_id, place)
  JOIN recurring.functions AS k
    ON k.run_id = f.run_id
    AND k.place = b.other
  WHERE f.function_place < k.function_place
  GROUP BY f.run_id, b.other
)
SELECT run_id, place, function_place
FROM functions
