-- title: What was edited between the sources of two compilations
-- question: Which edits of a program lie between two of its snapshots before
--   optimisations?
-- definition: Operations of both snapshots are aligned by framework path,
--   opcode and function of the innermost user frame, with element type,
--   dimensions and sharding, and by those of their operands. Names, numbers,
--   order, files and lines are ignored, as are parts of a path and functions
--   that only one side has, and wrappers of JAX (jit, jvp, checkpoint, while).
--   Types and dimensions are left out where those of the arguments changed. An
--   operation that the other side lacks starts an edit if none of its operands
--   is lacking, too. These starts are grouped by the outermost call below
--   which most operations are lacking, else by the user's line. Edits of their
--   own are donations, outputs, constants of at least 4 KiB, callbacks,
--   shardings of arguments, other moments of an optimiser, loops that are
--   gone, new or of other trip counts, and operations that are no longer or
--   newly recomputed (of checkpoints). What starts below such a loop or
--   checkpoint belongs to its edit. Where all calls of the user are at the
--   same lines and columns on both sides, and outputs are the same, operations
--   that are added, removed or replaced are those of another release of a
--   library, and no edit. A candidate that was checked out in another folder
--   than the base has the base's files.
-- grain: pair of snapshots, edit
-- param base_runs BIGINT[] = NULL from 0: run_id of each base snapshot.
-- param base_ids BIGINT[] = NULL: Their contents.
-- param candidate_runs BIGINT[] = NULL from 0: run_id of each candidate
--   snapshot.
-- param candidate_ids BIGINT[] = NULL: Their contents.
-- param with_paths BOOLEAN = false: Fill base_paths and candidate_paths.
-- column pair BIGINT id neutral: Position of the pair in the lists.
-- column place BIGINT id neutral: Order of the edit, the greatest first.
-- column change VARCHAR name neutral: donation, output, constant, callback,
--   argument_sharding, optimiser, loop, recomputation, retyped, resharded,
--   reshaped, added, removed or replaced.
-- column rule_id VARCHAR name neutral: Its rule of cause_rules.
-- column sentence VARCHAR text neutral: What was edited, as the rule says it.
-- column advice VARCHAR text neutral: What undoes it.
-- column base_text VARCHAR text neutral: What the base has: a type, shape,
--   sharding, trip count, number of operations, or names of operations.
-- column candidate_text VARCHAR text neutral: The same of the candidate.
-- column subject VARCHAR text neutral: What it is of: an argument, operation
--   or framework path.
-- column operations VARCHAR text neutral: Names of the operations that start
--   it, or that it is of.
-- column operation_count BIGINT count neutral: Operations (arguments, outputs)
--   that differ.
-- column delta_bytes BIGINT bytes neutral: By how much their results grew.
-- column source_file VARCHAR name neutral: File of the edited line.
-- column source_path VARCHAR name neutral: The same without the folder that
--   all files of the user are in.
-- column function_name VARCHAR name neutral: Its function.
-- column base_line INTEGER count neutral: Line in the base, from 1; NULL where
--   it has no such operation.
-- column candidate_line INTEGER count neutral: The same in the candidate.
-- column base_paths VARCHAR text neutral: Framework paths of the base that the
--   edit is of, or that descend from it and that the candidate lacks, one per
--   line; NULL unless with_paths.
-- column candidate_paths VARCHAR text neutral: The same of the candidate.
WITH RECURSIVE asked AS MATERIALIZED (
  -- Arguments are read inside of macros, where no CTE may have their names.
  SELECT
    unnest(range(1, len($base_ids) + 1)) AS pair,
    unnest($base_runs) AS base_run, unnest($base_ids) AS base_id,
    unnest($candidate_runs) AS own_run, unnest($candidate_ids) AS own_id
),
sides AS MATERIALIZED (
  SELECT
    a.pair, a.is_own, s.module_id, s.entry_computation_id AS entry_id,
    min(s.locations_id) AS locations_id
  FROM (
    SELECT
      a.pair, FALSE AS is_own, a.base_run AS run_id, a.base_id AS source_id
    FROM asked AS a
    WHERE a.base_id <> a.own_id
    UNION ALL
    SELECT a.pair, TRUE, a.own_run, a.own_id
    FROM asked AS a
    WHERE a.base_id <> a.own_id
  ) AS a
  JOIN store.occurrences AS o USING (run_id)
  JOIN store.snapshots AS s
    ON s.snapshot_id = o.snapshot_id
    AND s.module_id = a.source_id
  GROUP BY ALL
),
-- Each is fixed, and of the chosen contents alone: else those of all meet.
there AS MATERIALIZED (
  SELECT
    s.pair, s.is_own, i.instruction_id, i.computation_id, i.form_id,
    i.is_root, i.computation_id = s.entry_id AS is_entry
  FROM sides AS s
  JOIN store.instructions AS i USING (module_id)
),
forms AS MATERIALIZED (
  SELECT
    f.form_id, f.opcode, f.op_name, f.element_type,
    regexp_extract(f.shape, '\[[^\]]*\]') AS dims,
    regexp_replace(f.shape, '\{[^}]*\}', '', 'g') AS shape, f.sharding,
    f.custom_call_target AS target, f.parameter_number, f.logical_bytes,
    f.literal
  FROM (SELECT DISTINCT form_id FROM there)
  JOIN store.instruction_forms AS f USING (form_id)
),
edges AS MATERIALIZED (
  SELECT DISTINCT s.pair, s.is_own, e.instruction_id, e.operand_id
  FROM sides AS s
  JOIN operands AS e USING (module_id)
  WHERE e.operand_id IS NOT NULL
),
calls AS MATERIALIZED (
  SELECT
    s.pair, s.is_own, c.instruction_id, c.role, c.computation_id AS called_id
  FROM sides AS s
  JOIN called_computations AS c USING (module_id)
),
-- Frames: the user's, and who calls them. Older releases say a line alone.
all_frames AS MATERIALIZED (
  SELECT
    s.locations_id, f.stack_frame_id, f.parent_id, f.user_frame_id,
    f.function_name, f.file_name, f.line, f."column" AS place_in_line
  FROM (SELECT DISTINCT locations_id FROM sides) AS s
  JOIN store.location_sets AS t USING (locations_id)
  JOIN store.stack_frames AS f USING (frames_id)
  UNION ALL
  SELECT
    s.locations_id, -1 - l.location_number, NULL, -1 - l.location_number, '',
    l.source_file, l.source_line, NULL
  FROM (SELECT DISTINCT locations_id FROM sides) AS s
  JOIN store.location_sets AS t USING (locations_id)
  JOIN store.location_lists AS l USING (list_id)
  WHERE l.stack_frame_id IS NULL
    AND l.source_file IS NOT NULL
    AND l.source_line IS NOT NULL
    AND l.source_file <> 'dummy_file_name'
),
own_frames AS MATERIALIZED (
  SELECT
    s.pair, s.is_own, f.stack_frame_id AS frame_id, f.parent_id,
    f.user_frame_id, f.function_name AS frame_function, f.file_name,
    f.line AS frame_line, f.place_in_line,
    f.user_frame_id = f.stack_frame_id
    AND k.file_name IS NULL AS is_user
  FROM sides AS s
  JOIN all_frames AS f USING (locations_id)
  LEFT JOIN (
    SELECT DISTINCT d.file_name
    FROM all_frames AS d
    JOIN framework_files() AS p ON contains(d.file_name, p.fragment)
  ) AS k ON k.file_name = f.file_name
),
files AS MATERIALIZED (
  SELECT DISTINCT
    pair, is_own, file_name, string_split(file_name, '/') AS parts
  FROM own_frames
  WHERE is_user
    AND starts_with(file_name, '/')
),
-- Where the candidate was checked out, if no file is where the base has it:
-- the files with the longest common end are the same.
checkouts AS MATERIALIZED (
  SELECT
    h.pair,
    left(h.base_file, length(h.base_file) - h.shared) AS base_folder,
    left(h.own_file, length(h.own_file) - h.shared) AS own_folder
  FROM (
    SELECT
      b.pair, b.file_name AS base_file, c.file_name AS own_file,
      CAST(list_sum(list_transform(
        range(1, least(len(b.parts), len(c.parts)) + 1),
        lambda n: CASE
          WHEN b.parts[-n:] = c.parts[-n:] THEN length(b.parts[-n]) + 1 ELSE 0
        END
      )) AS BIGINT) AS shared
    FROM files AS b
    JOIN files AS c
      ON c.pair = b.pair
      AND c.parts[-1] = b.parts[-1]
    WHERE NOT b.is_own
      AND c.is_own
  ) AS h
  ANTI JOIN (
    SELECT pair
    FROM files
    GROUP BY pair, file_name
    HAVING count(*) = 2
  ) AS same ON same.pair = h.pair
  QUALIFY row_number() OVER (
    PARTITION BY h.pair ORDER BY h.shared DESC, h.base_file, h.own_file
  ) = 1
),
-- The candidate's files are called as in the base.
frames AS MATERIALIZED (
  SELECT
    f.* REPLACE (
      CASE
        WHEN f.is_own AND starts_with(f.file_name, c.own_folder || '/')
          THEN c.base_folder || substr(f.file_name, length(c.own_folder) + 1)
        ELSE f.file_name
      END AS file_name
    )
  FROM own_frames AS f
  LEFT JOIN checkouts AS c USING (pair)
),
callers AS (
  SELECT
    f.pair, f.is_own, f.frame_id, f.frame_id AS caller_id, f.parent_id,
    0 AS distance
  FROM frames AS f
  UNION ALL
  SELECT
    c.pair, c.is_own, c.frame_id, f.frame_id, f.parent_id, c.distance + 1
  FROM callers AS c
  JOIN frames AS f
    ON f.pair = c.pair
    AND f.is_own = c.is_own
    AND f.frame_id = c.parent_id
  WHERE c.distance < 100
),
chains AS MATERIALIZED (
  SELECT
    c.pair, c.is_own, c.frame_id, c.distance, f.frame_function, f.file_name,
    f.frame_line, hash(f.file_name, f.frame_function, f.frame_line) AS site
  FROM callers AS c
  JOIN frames AS f
    ON f.pair = c.pair
    AND f.is_own = c.is_own
    AND f.frame_id = c.caller_id
  WHERE f.is_user
),
lines AS MATERIALIZED (
  SELECT
    s.pair, s.is_own, n.instruction_id,
    coalesce(l.stack_frame_id, -1 - l.location_number) AS frame_id
  FROM sides AS s
  JOIN store.location_sets AS t USING (locations_id)
  JOIN store.location_numbers AS n USING (numbering_id)
  JOIN store.location_lists AS l
    ON l.list_id = t.list_id
    AND l.location_number = n.location_number
),
-- Where no line of the user's was edited, as far as calls say, operations
-- that are new, gone or replaced are those of another release of a library.
edited_pairs AS MATERIALIZED (
  SELECT
    c.pair, bool_or(c.frame_function = '') <> bool_and(c.frame_function = '')
      AS has_other_frames
  FROM (
    SELECT
      f.pair, f.frame_function, f.is_own,
      count(*) OVER (
        PARTITION BY
          f.pair, f.file_name, f.frame_function, f.frame_line, f.place_in_line
      ) AS side_count
    FROM (
      SELECT DISTINCT
        pair, is_own, file_name, frame_function, frame_line, place_in_line
      FROM frames
      WHERE is_user
        AND frame_function <> '<module>'
    ) AS f
  ) AS c
  GROUP BY c.pair
  HAVING bool_or(c.side_count = 1)
),
innermost AS MATERIALIZED (
  SELECT
    pair, is_own, frame_id, arg_min(frame_function, distance) AS user_function
  FROM chains
  GROUP BY pair, is_own, frame_id
),
-- Paths without wrappers, with what only one side says left open:
-- transpose(jvp(Model))/jvp(Model)/checkpoint/Dense_0 is Model/Dense_0.
paths AS MATERIALIZED (
  SELECT
    d.pair, d.is_own, d.op_name,
    list_filter(d.parts, lambda p, i: i = 1 OR p <> d.parts[i - 1]) AS parts
  FROM (
    SELECT
      n.*, list_filter(
        string_split(regexp_replace(
          regexp_replace(n.op_name, 'p?jit\([^()]*\)', '', 'g'),
          '\w+\(|\)', '', 'g'
        ), '/'),
        lambda p: NOT regexp_full_match(
          p, '|checkpoint|remat\d*|rematted_computation|while|body|cond'
        )
      ) AS parts
    FROM (
      SELECT DISTINCT t.pair, t.is_own, f.op_name
      FROM there AS t
      JOIN forms AS f USING (form_id)
      WHERE f.op_name <> ''
    ) AS n
  ) AS d
),
shared_parts AS (
  SELECT p.pair, p.part
  FROM (
    SELECT DISTINCT pair, is_own, unnest(parts) AS part FROM paths
  ) AS p
  GROUP BY p.pair, p.part
  HAVING count(*) = 2
),
cores AS MATERIALIZED (
  SELECT
    p.pair, p.is_own, p.op_name,
    string_agg(coalesce(s.part, '*'), '/' ORDER BY p.place) AS core
  FROM (
    SELECT
      pair, is_own, op_name, unnest(parts) AS part,
      generate_subscripts(parts, 1) AS place
    FROM paths
  ) AS p
  LEFT JOIN shared_parts AS s USING (pair, part)
  GROUP BY p.pair, p.is_own, p.op_name
),
shared_functions AS (
  SELECT i.pair, i.user_function
  FROM (SELECT DISTINCT pair, is_own, user_function FROM innermost) AS i
  GROUP BY i.pair, i.user_function
  HAVING count(*) = 2
),
arguments AS MATERIALIZED (
  SELECT
    t.pair, t.is_own, t.instruction_id, f.parameter_number AS number,
    coalesce(nullif(replace(f.op_name, '\''', ''''), ''),
      'parameter ' || f.parameter_number) AS argument,
    f.element_type, f.dims, f.sharding, f.logical_bytes
  FROM there AS t
  JOIN forms AS f USING (form_id)
  WHERE t.is_entry
    AND f.opcode = 'parameter'
),
inputs AS MATERIALIZED (
  SELECT
    g.pair,
    list_sort(list(g.dims) FILTER (WHERE g.is_own))
      IS NOT DISTINCT FROM list_sort(list(g.dims) FILTER (WHERE NOT g.is_own))
      AS has_same_sizes,
    list_sort(list(g.element_type) FILTER (WHERE g.is_own))
      IS NOT DISTINCT FROM
      list_sort(list(g.element_type) FILTER (WHERE NOT g.is_own))
      AS has_same_types,
    count_if(g.is_own) = count_if(NOT g.is_own) AS has_same_count
  FROM arguments AS g
  GROUP BY g.pair
),
partitions AS MATERIALIZED (
  SELECT
    s.pair, count(DISTINCT coalesce(m.num_partitions, 1)) = 1 AS has_same_count
  FROM sides AS s
  JOIN store.snapshots AS m USING (module_id)
  GROUP BY s.pair
),
described AS MATERIALIZED (
  SELECT
    t.pair, t.is_own, t.instruction_id, t.computation_id, f.opcode, f.op_name,
    -- jvp(jit(_one_hot)) is one_hot, and reduce_sum[axes=(0,)] reduce_sum.
    ltrim(
      regexp_replace(
        string_split(
          regexp_replace(f.op_name, '\[\w+=.*?\](/|$)', '\1', 'g'), '/'
        )[-1], '\w+\(|\)', '', 'g'
      ), '_'
    ) AS operation, f.element_type, f.dims,
    f.shape, f.sharding, f.target,
    coalesce(f.logical_bytes, 0) AS size_bytes, l.frame_id, c.core,
    coalesce(contains(f.op_name, 'rematted_computation'), FALSE)
      AS is_recomputed,
    coalesce(contains(f.op_name, 'transpose('), FALSE) AS is_backward,
    u.user_function, i.user_function IS NOT NULL AS is_located,
    hash(c.core, f.opcode, u.user_function, i.user_function IS NULL) AS key,
    f.opcode NOT IN (
      'parameter', 'get-tuple-element', 'tuple', 'bitcast', 'constant',
      'while', 'opt-barrier'
    ) AND f.dims <> '[]' AS may_start
  FROM there AS t
  JOIN forms AS f USING (form_id)
  LEFT JOIN lines AS l USING (pair, is_own, instruction_id)
  LEFT JOIN innermost AS i USING (pair, is_own, frame_id)
  LEFT JOIN shared_functions AS u
    ON u.pair = t.pair
    AND u.user_function = i.user_function
  LEFT JOIN cores AS c
    ON c.pair = t.pair
    AND c.is_own = t.is_own
    AND c.op_name = f.op_name
  WHERE f.dims <> '[]'
    OR f.opcode IN ('while', 'custom-call')
),
is_callback AS MATERIALIZED (
  SELECT d.pair, d.is_own, d.instruction_id
  FROM described AS d
  WHERE d.opcode = 'custom-call'
    AND contains(lower(d.target), 'callback')
),
signed AS MATERIALIZED (
  SELECT
    d.*,
    hash(
      d.key, d.is_recomputed,
      CASE WHEN coalesce(n.has_same_types, TRUE) THEN d.element_type END,
      CASE WHEN coalesce(n.has_same_sizes, TRUE) THEN d.dims END,
      CASE WHEN p.has_same_count THEN d.sharding END
    ) AS sign
  FROM described AS d
  LEFT JOIN inputs AS n USING (pair)
  JOIN partitions AS p USING (pair)
  ANTI JOIN is_callback AS k USING (pair, is_own, instruction_id)
  WHERE d.opcode <> 'while'
),
counted AS MATERIALIZED (
  SELECT
    pair, sign, count_if(NOT is_own) AS base_count,
    count_if(is_own) AS own_count
  FROM signed
  GROUP BY pair, sign
  HAVING base_count <> own_count
),
uneven AS MATERIALIZED (
  SELECT
    s.pair, s.is_own, s.instruction_id, s.sign,
    least(c.base_count, c.own_count) = 0 AS is_alone
  FROM signed AS s
  JOIN counted AS c USING (pair, sign)
  WHERE s.is_own = (c.own_count > c.base_count)
    OR least(c.base_count, c.own_count) > 0
),
-- Of several alike the one that lacks is the one with other operands.
fed AS MATERIALIZED (
  SELECT
    u.pair, u.is_own, u.instruction_id, u.sign,
    hash(u.sign, list_sort(list(o.sign) FILTER (WHERE o.sign IS NOT NULL)))
      AS fed_sign
  FROM uneven AS u
  LEFT JOIN edges AS e USING (pair, is_own, instruction_id)
  LEFT JOIN signed AS o
    ON o.pair = e.pair
    AND o.is_own = e.is_own
    AND o.instruction_id = e.operand_id
  WHERE NOT u.is_alone
  GROUP BY u.pair, u.is_own, u.instruction_id, u.sign
),
lacking AS MATERIALIZED (
  SELECT s.*
  FROM signed AS s
  SEMI JOIN (
    SELECT u.pair, u.is_own, u.instruction_id
    FROM uneven AS u
    WHERE u.is_alone
    UNION ALL
    SELECT f.pair, f.is_own, f.instruction_id
    FROM fed AS f
    JOIN (
      SELECT
        pair, fed_sign, count_if(is_own) > count_if(NOT is_own) AS is_own
      FROM fed
      GROUP BY pair, fed_sign
      HAVING count_if(is_own) <> count_if(NOT is_own)
    ) AS m USING (pair, fed_sign, is_own)
  ) AS w USING (pair, is_own, instruction_id)
),
first_lacking AS MATERIALIZED (
  SELECT k.*
  FROM lacking AS k
  ANTI JOIN (
    SELECT e.pair, e.is_own, e.instruction_id
    FROM edges AS e
    JOIN lacking AS o
      ON o.pair = e.pair
      AND o.is_own = e.is_own
      AND o.instruction_id = e.operand_id
    WHERE o.opcode <> 'constant'
      AND (o.is_located OR o.opcode <> 'broadcast')
  ) AS f USING (pair, is_own, instruction_id)
  WHERE k.may_start
    AND k.is_located
    AND NOT k.is_recomputed
),
-- What only follows: an operation is of another type on the other side, where
-- it does not start, or is converted as what it meets is of another type.
followers AS (
  SELECT f.pair, f.is_own, f.instruction_id
  FROM first_lacking AS f
  JOIN lacking AS o
    ON o.pair = f.pair
    AND o.is_own <> f.is_own
    AND o.key = f.key
  LEFT JOIN first_lacking AS k
    ON k.pair = o.pair
    AND k.is_own = o.is_own
    AND k.instruction_id = o.instruction_id
  GROUP BY f.pair, f.is_own, f.instruction_id
  HAVING count(k.instruction_id) = 0
  UNION ALL
  SELECT f.pair, f.is_own, f.instruction_id
  FROM first_lacking AS f
  JOIN edges AS e
    ON e.pair = f.pair
    AND e.is_own = f.is_own
    AND e.operand_id = f.instruction_id
  JOIN edges AS m
    ON m.pair = e.pair
    AND m.is_own = e.is_own
    AND m.instruction_id = e.instruction_id
  JOIN lacking AS o
    ON o.pair = m.pair
    AND o.is_own = m.is_own
    AND o.instruction_id = m.operand_id
  ANTI JOIN first_lacking AS k
    ON k.pair = o.pair
    AND k.is_own = o.is_own
    AND k.instruction_id = o.instruction_id
  WHERE f.opcode = 'convert'
    AND o.opcode NOT IN ('constant', 'broadcast', 'parameter')
),
started AS MATERIALIZED (
  SELECT f.*
  FROM first_lacking AS f
  ANTI JOIN followers AS o USING (pair, is_own, instruction_id)
),
-- Where an operation was edited: in the outermost call that the other side
-- lacks for the most part, else in the user's line.
frame_counts AS (
  SELECT
    d.pair, d.is_own, d.frame_id, count(*) AS times,
    count(k.instruction_id) AS lacking_times
  FROM described AS d
  LEFT JOIN lacking AS k USING (pair, is_own, instruction_id)
  WHERE d.is_located
    AND d.opcode <> 'get-tuple-element'
  GROUP BY d.pair, d.is_own, d.frame_id
),
site_counts AS (
  SELECT
    pair, is_own, site, sum(times) AS times,
    sum(lacking_times) AS lacking_times
  FROM (
    SELECT DISTINCT
      c.pair, c.is_own, c.site, n.frame_id, n.times, n.lacking_times
    FROM chains AS c
    JOIN frame_counts AS n USING (pair, is_own, frame_id)
  )
  GROUP BY pair, is_own, site
),
side_counts AS (
  SELECT pair, is_own, sum(times) AS all_times
  FROM frame_counts
  GROUP BY pair, is_own
),
placed AS MATERIALIZED (
  SELECT
    c.pair, c.is_own, c.frame_id,
    unnest(arg_max(
      struct_pack(
        source_file := c.file_name, site_function := c.frame_function,
        site_line := c.frame_line, site := c.site
      ),
      CASE
        WHEN s.lacking_times >= 0.8 * s.times AND s.times < 0.5 * a.all_times
          THEN c.distance
        ELSE -1 - c.distance
      END
    ))
  FROM chains AS c
  JOIN site_counts AS s USING (pair, is_own, site)
  JOIN side_counts AS a USING (pair, is_own)
  GROUP BY c.pair, c.is_own, c.frame_id
),
-- Loops.
whiles AS MATERIALIZED (
  SELECT
    d.pair, d.is_own, d.instruction_id,
    -- Some releases do not say which loops are of the backward pass.
    d.is_backward AND b.pair IS NOT NULL AS is_backward, d.user_function,
    d.frame_id, max(TRY_CAST(f.literal AS BIGINT)) AS trip_count
  FROM described AS d
  LEFT JOIN (
    SELECT o.pair
    FROM described AS o
    WHERE o.opcode = 'while'
      AND o.is_backward
    GROUP BY o.pair
    HAVING bool_or(o.is_own) AND NOT bool_and(o.is_own)
  ) AS b USING (pair)
  JOIN calls AS c USING (pair, is_own, instruction_id)
  LEFT JOIN there AS t
    ON t.pair = c.pair
    AND t.is_own = c.is_own
    AND t.computation_id = c.called_id
    AND c.role = 'condition'
  LEFT JOIN forms AS f
    ON f.form_id = t.form_id
    AND f.opcode = 'constant'
  WHERE d.opcode = 'while'
  GROUP BY ALL
),
loops_alone AS (
  SELECT
    w.*, row_number() OVER (
      PARTITION BY w.pair, w.is_own, w.is_backward, w.user_function
      ORDER BY w.trip_count, w.instruction_id
    ) AS nth
  FROM (
    SELECT
      w.*, row_number() OVER (
        PARTITION BY
          w.pair, w.is_own, w.is_backward, w.user_function, w.trip_count
        ORDER BY w.instruction_id
      ) AS copy
    FROM whiles AS w
  ) AS w
  ANTI JOIN (
    SELECT
      w.pair, NOT w.is_own AS is_own, w.is_backward, w.user_function,
      coalesce(w.trip_count, -1) AS trips, row_number() OVER (
        PARTITION BY
          w.pair, w.is_own, w.is_backward, w.user_function, w.trip_count
        ORDER BY w.instruction_id
      ) AS copy
    FROM whiles AS w
  ) AS o
    ON o.pair = w.pair
    AND o.is_own = w.is_own
    AND o.is_backward = w.is_backward
    AND o.user_function IS NOT DISTINCT FROM w.user_function
    AND o.trips = coalesce(w.trip_count, -1)
    AND o.copy = w.copy
),
looped AS MATERIALIZED (
  SELECT
    l.pair, l.is_backward, l.user_function, l.nth,
    max(l.trip_count) FILTER (WHERE NOT l.is_own) AS base_trips,
    max(l.trip_count) FILTER (WHERE l.is_own) AS own_trips,
    bool_or(NOT l.is_own) AS is_in_base, bool_or(l.is_own) AS is_in_own,
    min(p.source_file) AS source_file,
    min(p.site_function) AS site_function,
    max(p.site_line) FILTER (WHERE NOT l.is_own) AS base_line,
    max(p.site_line) FILTER (WHERE l.is_own) AS own_line,
    min(i.source_file) AS own_file,
    min(i.site_function) AS own_function
  FROM loops_alone AS l
  LEFT JOIN placed AS p USING (pair, is_own, frame_id)
  LEFT JOIN (
    SELECT
      pair, is_own, frame_id, arg_min(file_name, distance) AS source_file,
      arg_min(frame_function, distance) AS site_function
    FROM chains
    GROUP BY pair, is_own, frame_id
  ) AS i USING (pair, is_own, frame_id)
  GROUP BY l.pair, l.is_backward, l.user_function, l.nth
),
nested_calls AS MATERIALIZED (
  SELECT DISTINCT t.pair, t.is_own, t.computation_id, c.called_id
  FROM there AS t
  JOIN calls AS c USING (pair, is_own, instruction_id)
  WHERE $with_paths
),
-- Computations that run in such a loop.
loop_bodies AS (
  SELECT
    l.pair, l.is_own, n.own_file, n.own_function, c.called_id AS computation_id
  FROM loops_alone AS l
  JOIN (
    SELECT
      pair, is_own, frame_id, arg_min(file_name, distance) AS own_file,
      arg_min(frame_function, distance) AS own_function
    FROM chains
    GROUP BY pair, is_own, frame_id
  ) AS n USING (pair, is_own, frame_id)
  JOIN calls AS c USING (pair, is_own, instruction_id)
  WHERE $with_paths
  UNION
  SELECT b.pair, b.is_own, b.own_file, b.own_function, c.called_id
  FROM loop_bodies AS b
  JOIN nested_calls AS c USING (pair, is_own, computation_id)
),
-- And what is like them on a side without the loop.
loop_paths AS (
  SELECT
    k.pair, k.own_file, k.own_function,
    list(DISTINCT d.op_name) FILTER (WHERE NOT d.is_own) AS base_paths,
    list(DISTINCT d.op_name) FILTER (WHERE d.is_own) AS candidate_paths
  FROM (
    SELECT DISTINCT b.pair, b.own_file, b.own_function, d.key
    FROM loop_bodies AS b
    JOIN described AS d USING (pair, is_own, computation_id)
    WHERE d.core IS NOT NULL
      AND d.is_located
  ) AS k
  JOIN described AS d USING (pair, key)
  GROUP BY k.pair, k.own_file, k.own_function
),
loop_edits AS MATERIALIZED (
  SELECT
    l.pair, 'loop' AS change,
    CASE
      WHEN l.is_in_base THEN coalesce(CAST(l.base_trips AS VARCHAR), '?')
    END AS base_text,
    CASE
      WHEN l.is_in_own THEN coalesce(CAST(l.own_trips AS VARCHAR), '?')
      WHEN EXISTS (
        SELECT 1
        FROM lacking AS k
        JOIN placed AS p USING (pair, is_own, frame_id)
        WHERE k.pair = l.pair
          AND k.is_own
          AND k.opcode IN ('slice', 'call', 'dynamic-slice', 'concatenate')
          AND p.source_file = l.own_file
          AND p.site_function = l.own_function
      ) THEN 'unrolled'
    END AS candidate_text,
    nullif(l.own_function, '') AS subject, CAST(NULL AS VARCHAR) AS operations,
    1 AS operation_count, l.source_file, l.site_function AS function_name,
    l.base_line, l.own_line AS candidate_line, o.base_paths,
    o.candidate_paths
  FROM looped AS l
  JOIN inputs AS n USING (pair)
  LEFT JOIN loop_paths AS o USING (pair, own_file, own_function)
  -- Other steps follow from other sizes.
  WHERE n.has_same_sizes
    OR NOT (l.is_in_base AND l.is_in_own)
  QUALIFY row_number() OVER (
    PARTITION BY l.pair, l.site_function, l.base_line, l.own_line
    ORDER BY l.is_backward, l.nth
  ) = 1
),
-- Recomputation.
key_counts AS (
  SELECT
    pair, key,
    count_if(NOT is_own AND is_recomputed) AS base_again,
    count_if(is_own AND is_recomputed) AS own_again,
    count_if(NOT is_own AND NOT is_recomputed) AS base_once,
    count_if(is_own AND NOT is_recomputed) AS own_once
  FROM described
  WHERE is_located
    AND opcode NOT IN ('get-tuple-element', 'tuple', 'opt-barrier')
  GROUP BY pair, key
),
again_keys AS MATERIALIZED (
  SELECT *
  FROM key_counts
  WHERE base_again <> own_again
    AND (least(base_again, own_again) = 0 OR base_once = own_once)
    AND least(base_once, own_once) > 0
),
again_totals AS MATERIALIZED (
  SELECT
    t.pair, t.base_again, t.own_again,
    EXISTS (
      SELECT 1
      FROM described AS d
      WHERE d.pair = t.pair
        AND d.is_own
        AND regexp_matches(d.op_name, '(^|/)(checkpoint|remat\d*)(/|$)')
    ) AS is_kept
  FROM (
    SELECT
      k.pair, sum(k.base_again) AS base_again, sum(k.own_again) AS own_again,
      sum(CASE WHEN a.key IS NULL THEN 0 ELSE k.own_again - k.base_again END)
        AS moved
    FROM key_counts AS k
    LEFT JOIN again_keys AS a USING (pair, key)
    GROUP BY k.pair
  ) AS t
  WHERE t.base_again <> t.own_again
    AND t.moved <> 0
    AND (t.moved > 0) = (t.own_again > t.base_again)
),
again_sites AS (
  SELECT
    d.pair, d.is_own, c.site, c.file_name, c.frame_function, c.frame_line,
    avg(c.distance) AS distance, count(DISTINCT d.instruction_id) AS times
  FROM (
    SELECT
      d.pair, d.is_own, d.instruction_id, d.frame_id,
      d.is_recomputed OR d.opcode = 'opt-barrier' AS is_marked,
      bool_or(d.is_recomputed OR d.opcode = 'opt-barrier')
        OVER (PARTITION BY d.pair, d.is_own) AS is_any_marked
    FROM described AS d
    SEMI JOIN again_totals AS t USING (pair)
    LEFT JOIN again_keys AS k USING (pair, key)
    WHERE d.is_located
      AND (k.key IS NOT NULL OR d.opcode = 'opt-barrier')
  ) AS d
  JOIN chains AS c USING (pair, is_own, frame_id)
  WHERE d.is_marked = d.is_any_marked
  GROUP BY
    d.pair, d.is_own, c.site, c.file_name, c.frame_function, c.frame_line
),
again_site AS MATERIALIZED (
  SELECT s.pair, s.is_own, s.site, s.file_name, s.frame_function, s.frame_line
  FROM again_sites AS s
  JOIN (
    SELECT pair, is_own, max(times) AS most FROM again_sites GROUP BY ALL
  ) AS m USING (pair, is_own)
  WHERE s.times >= 0.9 * m.most
  QUALIFY row_number() OVER (
    PARTITION BY s.pair, s.is_own ORDER BY s.distance, s.times DESC, s.site
  ) = 1
),
again_paths AS (
  SELECT
    d.pair, list(DISTINCT d.op_name) FILTER (WHERE NOT d.is_own) AS base_paths,
    list(DISTINCT d.op_name) FILTER (WHERE d.is_own) AS candidate_paths
  FROM described AS d
  JOIN again_keys AS k USING (pair, key)
  WHERE $with_paths
  GROUP BY d.pair
),
again_edits AS (
  SELECT
    t.pair, 'recomputation' AS change,
    CAST(t.base_again AS VARCHAR) AS base_text,
    CAST(t.own_again AS VARCHAR) AS candidate_text,
    CASE
      WHEN t.own_again > t.base_again THEN 'saves less'
      WHEN t.is_kept THEN 'saves more'
      ELSE 'removed'
    END AS subject, CAST(NULL AS VARCHAR) AS operations,
    CAST(abs(t.own_again - t.base_again) AS BIGINT) AS operation_count,
    coalesce(c.file_name, b.file_name) AS source_file,
    coalesce(c.frame_function, b.frame_function) AS function_name,
    b.frame_line AS base_line, c.frame_line AS candidate_line, o.base_paths,
    o.candidate_paths
  FROM again_totals AS t
  LEFT JOIN again_paths AS o ON o.pair = t.pair
  LEFT JOIN again_site AS b
    ON b.pair = t.pair
    AND NOT b.is_own
  LEFT JOIN again_site AS c
    ON c.pair = t.pair
    AND c.is_own
),
-- Constants, callbacks, outputs, arguments.
read_at AS (
  SELECT
    e.pair, e.is_own, e.operand_id AS instruction_id,
    min(r.instruction_id) AS reader_id,
    arg_min(r.frame_id, r.instruction_id) AS frame_id
  FROM edges AS e
  JOIN described AS r USING (pair, is_own, instruction_id)
  WHERE r.is_located
  GROUP BY e.pair, e.is_own, e.operand_id
),
constants AS (
  SELECT
    d.pair, d.is_own, d.shape, d.size_bytes, d.instruction_id, r.frame_id,
    row_number() OVER (
      PARTITION BY d.pair, d.is_own, d.shape ORDER BY d.instruction_id
    ) AS copy
  FROM described AS d
  LEFT JOIN read_at AS r USING (pair, is_own, instruction_id)
  WHERE d.opcode = 'constant'
    AND d.size_bytes >= 4096
),
constant_edits AS MATERIALIZED (
  SELECT
    c.pair, 'constant' AS change,
    max(c.shape) FILTER (WHERE NOT c.is_own) AS base_text,
    max(c.shape) FILTER (WHERE c.is_own) AS candidate_text,
    CAST(NULL AS VARCHAR) AS subject, CAST(NULL AS VARCHAR) AS operations,
    count(*) AS operation_count,
    sum(CASE WHEN c.is_own THEN c.size_bytes ELSE -c.size_bytes END)
      AS delta_bytes,
    p.source_file, p.site_function AS function_name,
    max(p.site_line) FILTER (WHERE NOT c.is_own) AS base_line,
    max(p.site_line) FILTER (WHERE c.is_own) AS candidate_line
  FROM constants AS c
  ANTI JOIN constants AS o
    ON o.pair = c.pair
    AND o.is_own <> c.is_own
    AND o.shape = c.shape
    AND o.copy = c.copy
  LEFT JOIN placed AS p USING (pair, is_own, frame_id)
  GROUP BY c.pair, p.source_file, p.site_function, p.site_line
),
callback_edits AS (
  SELECT
    k.pair, 'callback' AS change,
    min(k.operation) FILTER (WHERE NOT k.is_own) AS base_text,
    min(k.operation) FILTER (WHERE k.is_own) AS candidate_text,
    min(k.operation) AS subject, CAST(NULL AS VARCHAR) AS operations,
    count(*) AS operation_count, CAST(0 AS BIGINT) AS delta_bytes,
    p.source_file, p.site_function AS function_name,
    max(p.site_line) FILTER (WHERE NOT k.is_own) AS base_line,
    max(p.site_line) FILTER (WHERE k.is_own) AS candidate_line,
    list(DISTINCT k.op_name) FILTER (WHERE NOT k.is_own) AS base_paths,
    list(DISTINCT k.op_name) FILTER (WHERE k.is_own) AS candidate_paths
  FROM (
    SELECT
      d.*, row_number() OVER (
        PARTITION BY d.pair, d.is_own, d.core, d.user_function
        ORDER BY d.instruction_id
      ) AS copy,
      count(*) OVER (PARTITION BY d.pair, d.core, d.user_function, d.is_own)
        AS times,
      count(*) OVER (PARTITION BY d.pair, d.core, d.user_function)
        AS both_times
    FROM described AS d
    SEMI JOIN is_callback AS b USING (pair, is_own, instruction_id)
  ) AS k
  LEFT JOIN placed AS p USING (pair, is_own, frame_id)
  WHERE k.copy > k.both_times - k.times
  GROUP BY k.pair, p.source_file, p.site_function, p.site_line
),
roots AS (
  SELECT t.pair, t.is_own, t.instruction_id, f.opcode
  FROM there AS t
  JOIN forms AS f USING (form_id)
  WHERE t.is_entry
    AND t.is_root
),
outputs AS (
  SELECT
    o.pair, o.is_own, o.nth, f.shape, f.logical_bytes, f.op_name, l.frame_id,
    c.core,
    hash(c.core, f.opcode, f.element_type,
      CASE WHEN n.has_same_sizes THEN f.dims END) AS sign
  FROM (
    SELECT r.pair, r.is_own, e.operand_index AS nth, e.operand_id AS out_id
    FROM roots AS r
    JOIN sides AS s USING (pair, is_own)
    JOIN operands AS e
      ON e.module_id = s.module_id
      AND e.instruction_id = r.instruction_id
    WHERE r.opcode = 'tuple'
    UNION ALL
    SELECT r.pair, r.is_own, 0, r.instruction_id
    FROM roots AS r
    WHERE r.opcode <> 'tuple'
  ) AS o
  JOIN there AS t
    ON t.pair = o.pair
    AND t.is_own = o.is_own
    AND t.instruction_id = o.out_id
  JOIN forms AS f USING (form_id)
  JOIN inputs AS n ON n.pair = o.pair
  LEFT JOIN lines AS l
    ON l.pair = o.pair
    AND l.is_own = o.is_own
    AND l.instruction_id = o.out_id
  LEFT JOIN cores AS c
    ON c.pair = o.pair
    AND c.is_own = o.is_own
    AND c.op_name = f.op_name
),
outputs_alone AS MATERIALIZED (
  SELECT
    o.*, count(*) OVER (PARTITION BY o.pair, o.is_own) AS alone_count,
    row_number() OVER (PARTITION BY o.pair, o.is_own ORDER BY o.nth) AS place
  FROM (
    SELECT
      o.*, row_number() OVER (
        PARTITION BY o.pair, o.is_own, o.sign ORDER BY o.nth
      ) AS copy,
      count(*) OVER (PARTITION BY o.pair, o.sign, o.is_own) AS times,
      count(*) OVER (PARTITION BY o.pair, o.sign) AS both_times,
      count(*) FILTER (WHERE o.is_own) OVER (PARTITION BY o.pair)
      - count(*) FILTER (WHERE NOT o.is_own) OVER (PARTITION BY o.pair)
        AS more
    FROM outputs AS o
  ) AS o
  WHERE o.copy > o.both_times - o.times
),
output_edits AS MATERIALIZED (
  SELECT
    o.pair, 'output' AS change,
    arg_min(o.shape, o.place) FILTER (WHERE NOT o.is_own) AS base_text,
    arg_min(o.shape, o.place) FILTER (WHERE o.is_own) AS candidate_text,
    arg_min(coalesce(
      nullif(o.core, '*'), nullif(ltrim(regexp_replace(
        string_split(o.op_name, '/')[-1], '\w+\(|\)', '', 'g'
      ), '_'), ''), o.op_name
    ), (o.place, NOT o.is_own)) AS subject,
    CAST(NULL AS VARCHAR) AS operations, count(*) AS operation_count,
    sum(CASE WHEN o.is_own THEN o.logical_bytes ELSE -o.logical_bytes END)
      AS delta_bytes,
    arg_min(p.source_file, o.place) AS source_file,
    arg_min(p.site_function, o.place) AS function_name,
    arg_min(p.site_line, o.place) FILTER (WHERE NOT o.is_own) AS base_line,
    arg_min(p.site_line, o.place) FILTER (WHERE o.is_own) AS candidate_line,
    list(DISTINCT o.op_name) FILTER (WHERE NOT o.is_own) AS base_paths,
    list(DISTINCT o.op_name) FILTER (WHERE o.is_own) AS candidate_paths
  FROM (
    -- A few outputs are an edit each, more of them one, told by the largest.
    SELECT
      o.* REPLACE (
        CASE
          WHEN o.more = 0 THEN o.place
          ELSE row_number() OVER (
            PARTITION BY o.pair, o.is_own ORDER BY o.logical_bytes DESC, o.nth
          )
        END AS place
      ),
      CASE
        WHEN o.more = 0 THEN o.place
        WHEN abs(o.more) <= 3 THEN o.nth
        ELSE 0
      END AS partner
    FROM outputs_alone AS o
    JOIN inputs AS n USING (pair)
    WHERE n.has_same_count AND o.more <> 0 AND o.is_own = (o.more > 0)
      OR o.more = 0 AND n.has_same_sizes AND n.has_same_types
  ) AS o
  LEFT JOIN placed AS p USING (pair, is_own, frame_id)
  GROUP BY o.pair, o.partner
  HAVING base_text IS DISTINCT FROM candidate_text
),
donated AS (
  SELECT
    g.pair, g.is_own, g.argument, g.number, g.logical_bytes, g.sharding,
    a.parameter_number IS NOT NULL AS is_donated
  FROM arguments AS g
  JOIN sides AS s USING (pair, is_own)
  LEFT JOIN (
    SELECT DISTINCT d.module_id, d.parameter_number
    FROM aliases AS d
  ) AS a
    ON a.module_id = s.module_id
    AND a.parameter_number = g.number
),
argument_pairs AS (
  SELECT
    b.pair, b.argument, b.number, b.is_donated AS base_donated,
    c.is_donated AS own_donated, b.sharding AS base_sharding,
    c.sharding AS own_sharding, c.logical_bytes
  FROM donated AS b
  JOIN donated AS c USING (pair, argument)
  WHERE NOT b.is_own
    AND c.is_own
),
argument_edits AS (
  SELECT
    a.pair, 'donation' AS change,
    CASE WHEN a.base_donated THEN 'donated' END AS base_text,
    CASE WHEN a.own_donated THEN 'donated' END AS candidate_text,
    arg_min(a.argument, (-a.logical_bytes, a.number)) AS subject,
    CAST(NULL AS VARCHAR) AS operations, count(*) AS operation_count,
    sum(CASE WHEN a.base_donated THEN 1 ELSE -1 END * a.logical_bytes)
      AS delta_bytes, CAST(NULL AS VARCHAR[]) AS base_paths,
    CAST(NULL AS VARCHAR[]) AS candidate_paths
  FROM argument_pairs AS a
  WHERE a.base_donated <> a.own_donated
  GROUP BY ALL
  UNION ALL
  SELECT
    a.pair, 'argument_sharding', a.base_sharding, a.own_sharding,
    arg_min(a.argument, a.number), NULL, count(*), sum(a.logical_bytes),
    list(a.argument), list(a.argument)
  FROM argument_pairs AS a
  JOIN partitions AS p USING (pair)
  WHERE coalesce(a.base_sharding, '{replicated}')
    <> coalesce(a.own_sharding, '{replicated}')
    AND p.has_same_count
  GROUP BY ALL
),
-- The moments that arguments are called after, without those of weights.
moments AS (
  SELECT
    m.pair,
    string_agg(DISTINCT m.moment, ', ' ORDER BY m.moment)
      FILTER (WHERE NOT m.is_own) AS base_text,
    string_agg(DISTINCT m.moment, ', ' ORDER BY m.moment)
      FILTER (WHERE m.is_own) AS candidate_text,
    count(*) FILTER (WHERE m.is_own)
    - count(*) FILTER (WHERE NOT m.is_own) AS more,
    sum(CASE WHEN m.is_own THEN m.logical_bytes ELSE -m.logical_bytes END)
      AS delta_bytes
  FROM (
    SELECT
      g.pair, g.is_own, g.logical_bytes,
      regexp_extract(
        g.argument,
        '(?:^|[^a-z])(mu|nu|momentum|velocity|exp_avg(?:_sq)?|trace|acc_grads'
          || '|sum_of_squares|v_row|v_col)(?:[^a-z]|$)', 1
      ) AS moment
    FROM arguments AS g
    WHERE NOT regexp_matches(g.argument, '^(state\.)?params?([^a-z]|$)')
  ) AS m
  WHERE m.moment <> ''
  GROUP BY m.pair
),
optimiser_edits AS (
  SELECT
    m.pair, 'optimiser' AS change, m.base_text, m.candidate_text,
    CAST(NULL AS VARCHAR) AS subject, CAST(NULL AS VARCHAR) AS operations,
    abs(m.more) AS operation_count, m.delta_bytes
  FROM moments AS m
  WHERE m.base_text IS DISTINCT FROM m.candidate_text
),
-- What of the rest starts an edit of its own.
whole_keys AS (
  SELECT
    pair, key, count_if(NOT is_own) AS base_count,
    count_if(is_own) AS own_count
  FROM described
  GROUP BY pair, key
),
consumed AS (
  SELECT s.pair, s.is_own, s.instruction_id
  FROM started AS s
  JOIN innermost AS i USING (pair, is_own, frame_id)
  SEMI JOIN (
    SELECT DISTINCT d.pair, n.user_function
    FROM described AS d
    JOIN innermost AS n USING (pair, is_own, frame_id)
    SEMI JOIN again_totals AS t USING (pair)
    WHERE d.is_recomputed
  ) AS a
    ON a.pair = s.pair
    AND a.user_function = i.user_function
  WHERE s.opcode <> 'convert'
  UNION
  SELECT s.pair, s.is_own, s.instruction_id
  FROM started AS s
  JOIN placed AS p USING (pair, is_own, frame_id)
  JOIN constant_edits AS k
    ON k.pair = p.pair
    AND k.source_file = p.source_file
    AND k.function_name = p.site_function
    AND p.site_line
    = CASE WHEN p.is_own THEN k.candidate_line ELSE k.base_line END
  UNION
  SELECT s.pair, s.is_own, s.instruction_id
  FROM started AS s
  JOIN chains AS c USING (pair, is_own, frame_id)
  JOIN looped AS l
    ON l.pair = c.pair
    AND c.file_name IN (l.source_file, l.own_file)
    AND c.frame_function IN (l.site_function, l.own_function)
  UNION
  SELECT s.pair, s.is_own, s.instruction_id
  FROM started AS s
  JOIN placed AS p USING (pair, is_own, frame_id)
  JOIN output_edits AS k
    ON k.pair = p.pair
    AND k.source_file = p.source_file
    AND k.function_name = p.site_function
    AND p.is_own
    AND p.site_line = k.candidate_line
),
rest AS MATERIALIZED (
  SELECT s.*, p.source_file, p.site_function, p.site_line
  FROM started AS s
  JOIN placed AS p USING (pair, is_own, frame_id)
  JOIN inputs AS n USING (pair)
  ANTI JOIN consumed AS c USING (pair, is_own, instruction_id)
  LEFT JOIN whole_keys AS w USING (pair, key)
  LEFT JOIN (SELECT DISTINCT pair FROM looped) AS l ON l.pair = s.pair
  WHERE NOT s.is_backward
    AND (
      l.pair IS NULL AND n.has_same_count
      OR w.base_count <> w.own_count
    )
    AND (
      n.has_same_count
      OR least(w.base_count, w.own_count) = 0
      AND NOT coalesce(contains(s.core, '*'), FALSE)
    )
),
groups AS (
  SELECT
    pair, source_file, site_function, count(*) AS start_count,
    mode(site_line ORDER BY instruction_id) FILTER (WHERE NOT is_own)
      AS base_line,
    mode(site_line ORDER BY instruction_id) FILTER (WHERE is_own)
      AS candidate_line
  FROM rest
  GROUP BY pair, source_file, site_function
),
grouped AS MATERIALIZED (
  SELECT
    k.*, g.source_file, g.site_function, g.base_line, g.candidate_line,
    s.instruction_id IS NOT NULL AS is_start
  FROM lacking AS k
  JOIN placed AS p USING (pair, is_own, frame_id)
  JOIN groups AS g
    ON g.pair = p.pair
    AND g.source_file = p.source_file
    AND g.site_function = p.site_function
  LEFT JOIN rest AS s
    ON s.pair = k.pair
    AND s.is_own = k.is_own
    AND s.instruction_id = k.instruction_id
  WHERE k.opcode NOT IN ('parameter', 'get-tuple-element')
),
key_changes AS (
  SELECT
    pair, source_file, site_function, key,
    min(element_type) FILTER (WHERE NOT is_own) AS base_type,
    min(element_type) FILTER (WHERE is_own) AS own_type,
    min(sharding) FILTER (WHERE NOT is_own) AS base_sharding,
    min(sharding) FILTER (WHERE is_own) AS own_sharding,
    min(shape) FILTER (WHERE NOT is_own) AS base_shape,
    min(shape) FILTER (WHERE is_own) AS own_shape,
    count_if(NOT is_own) AS base_count, count_if(is_own) AS own_count,
    min(instruction_id) AS first_id
  FROM grouped
  GROUP BY pair, source_file, site_function, key
),
type_changes AS (
  SELECT pair, source_file, site_function, base_type, own_type, sum(times)
    AS times
  FROM (
    SELECT
      pair, source_file, site_function, base_type, own_type,
      least(base_count, own_count) AS times
    FROM key_changes
    WHERE base_type <> own_type
    UNION ALL
    SELECT
      g.pair, g.source_file, g.site_function, o.element_type, g.element_type, 1
    FROM grouped AS g
    JOIN edges AS e USING (pair, is_own, instruction_id)
    JOIN described AS o
      ON o.pair = e.pair
      AND o.is_own = e.is_own
      AND o.instruction_id = e.operand_id
    WHERE g.is_own
      AND g.is_start
      AND g.opcode = 'convert'
      AND g.element_type <> o.element_type
  )
  WHERE regexp_full_match(base_type, 'b?f\d+.*')
    AND regexp_full_match(own_type, 'b?f\d+.*')
  GROUP BY pair, source_file, site_function, base_type, own_type
  QUALIFY row_number() OVER (
    PARTITION BY pair, source_file, site_function
    ORDER BY sum(times) DESC, base_type, own_type
  ) = 1
),
key_texts AS (
  SELECT
    pair, source_file, site_function,
    arg_min(base_sharding, first_id)
      FILTER (WHERE base_sharding IS DISTINCT FROM own_sharding)
      AS base_sharding,
    arg_min(own_sharding, first_id)
      FILTER (WHERE base_sharding IS DISTINCT FROM own_sharding)
      AS own_sharding,
    arg_min(base_shape, first_id)
      FILTER (WHERE base_count = own_count AND base_shape <> own_shape)
      AS base_shape,
    arg_min(own_shape, first_id)
      FILTER (WHERE base_count = own_count AND base_shape <> own_shape)
      AS own_shape,
    count_if(base_count = own_count) AS even_count,
    count_if(base_sharding IS DISTINCT FROM own_sharding
      AND base_count = own_count) AS sharded_count,
    count(*) AS key_count
  FROM key_changes
  GROUP BY pair, source_file, site_function
),
-- What descends from a group, as far as the other side lacks it.
lacking_edges AS MATERIALIZED (
  SELECT e.*
  FROM edges AS e
  SEMI JOIN lacking AS k USING (pair, is_own, instruction_id)
  ANTI JOIN grouped AS g USING (pair, is_own, instruction_id)
  WHERE $with_paths
),
reached AS (
  SELECT
    g.pair, g.is_own, g.instruction_id, g.source_file, g.site_function
  FROM grouped AS g
  WHERE $with_paths
  UNION
  SELECT
    r.pair, r.is_own, e.instruction_id, r.source_file, r.site_function
  FROM reached AS r
  JOIN lacking_edges AS e
    ON e.pair = r.pair
    AND e.is_own = r.is_own
    AND e.operand_id = r.instruction_id
),
group_paths AS (
  SELECT
    r.pair, r.source_file, r.site_function,
    list(DISTINCT d.op_name) FILTER (WHERE NOT d.is_own) AS base_paths,
    list(DISTINCT d.op_name) FILTER (WHERE d.is_own) AS candidate_paths
  FROM reached AS r
  JOIN described AS d
    ON d.pair = r.pair
    AND d.is_own = r.is_own
    AND d.instruction_id = r.instruction_id
  GROUP BY r.pair, r.source_file, r.site_function
),
group_sums AS (
  SELECT
    pair, source_file, site_function, min(base_line) AS base_line,
    min(candidate_line) AS candidate_line, count(*) AS operation_count,
    min(instruction_id) FILTER (WHERE is_start) AS first_id,
    sum(CASE WHEN is_own THEN size_bytes ELSE -size_bytes END) AS delta_bytes,
    arg_min(
      coalesce(nullif(core, '*'), operation), (instruction_id, is_own)
    ) FILTER (WHERE is_start) AS subject,
    string_agg(DISTINCT op_name, ' ' ORDER BY op_name)
      FILTER (WHERE is_own AND is_start) AS operations,
    list_distinct(list(operation ORDER BY size_bytes DESC, instruction_id)
      FILTER (WHERE NOT is_own)) AS base_operations,
    list_distinct(list(operation ORDER BY size_bytes DESC, instruction_id)
      FILTER (WHERE is_own)) AS own_operations
  FROM grouped
  GROUP BY pair, source_file, site_function
),
group_edits AS (
  SELECT
    s.pair,
    CASE
      WHEN t.base_type IS NOT NULL THEN 'retyped'
      WHEN k.sharded_count > 0 AND k.even_count = k.key_count THEN 'resharded'
      WHEN k.even_count = k.key_count AND k.own_shape IS NOT NULL
        THEN 'reshaped'
      WHEN s.base_operations IS NULL THEN 'added'
      WHEN s.own_operations IS NULL THEN 'removed'
      ELSE 'replaced'
    END AS change,
    CASE change
      WHEN 'retyped' THEN t.base_type
      WHEN 'resharded' THEN k.base_sharding
      WHEN 'reshaped' THEN k.base_shape
      ELSE nullif(array_to_string(list_filter(
        s.base_operations,
        lambda x: NOT coalesce(list_contains(s.own_operations, x), FALSE)
      )[:3], ', '), '')
    END AS base_text,
    CASE change
      WHEN 'retyped' THEN t.own_type
      WHEN 'resharded' THEN k.own_sharding
      WHEN 'reshaped' THEN k.own_shape
      ELSE nullif(array_to_string(list_filter(
        s.own_operations,
        lambda x: NOT coalesce(list_contains(s.base_operations, x), FALSE)
      )[:3], ', '), '')
    END AS candidate_text,
    s.subject, s.operations,
    CASE change WHEN 'retyped' THEN CAST(t.times AS BIGINT)
      ELSE s.operation_count END AS operation_count,
    s.delta_bytes, s.source_file, s.site_function AS function_name,
    s.base_line, s.candidate_line, s.first_id, o.base_paths,
    o.candidate_paths
  FROM group_sums AS s
  LEFT JOIN group_paths AS o USING (pair, source_file, site_function)
  LEFT JOIN type_changes AS t USING (pair, source_file, site_function)
  LEFT JOIN key_texts AS k USING (pair, source_file, site_function)
),
-- One stray type changes many lines: told where the first of them is.
told AS (
  SELECT
    g.pair, g.change, g.base_text, g.candidate_text,
    arg_min(g.subject, g.rank) AS subject,
    string_agg(g.operations, ' ' ORDER BY g.rank) AS operations,
    sum(g.operation_count) AS operation_count,
    sum(g.delta_bytes) AS delta_bytes,
    arg_min(g.source_file, g.rank) AS source_file,
    arg_min(g.function_name, g.rank) AS function_name,
    CAST(unnest(arg_min([g.base_line], g.rank)) AS INTEGER) AS base_line,
    CAST(unnest(arg_min([g.candidate_line], g.rank)) AS INTEGER)
      AS candidate_line,
    list_distinct(flatten(list(g.base_paths))) AS base_paths,
    list_distinct(flatten(list(g.candidate_paths))) AS candidate_paths
  FROM (
    SELECT
      g.*, row_number() OVER (
        PARTITION BY g.pair
        ORDER BY
          g.change = 'retyped' AND g.base_line IS NULL DESC, g.first_id,
          g.source_file, g.function_name
      ) AS rank
    FROM group_edits AS g
  ) AS g
  GROUP BY
    g.pair, g.change, g.base_text, g.candidate_text,
    CASE WHEN g.change NOT IN ('retyped', 'reshaped') THEN g.rank END
),
edits AS (
  FROM constant_edits
  UNION ALL BY NAME
  FROM callback_edits
  UNION ALL BY NAME
  FROM output_edits
  UNION ALL BY NAME
  FROM argument_edits
  UNION ALL BY NAME
  FROM optimiser_edits
  UNION ALL BY NAME
  FROM loop_edits
  UNION ALL BY NAME
  FROM again_edits
  UNION ALL BY NAME
  FROM told
),
-- [2,1,2] with copies last is 2x1, 2 copies.
written AS (
  SELECT
    e.* REPLACE (
      CASE WHEN contains(e.change, 'shard') THEN
        CASE
          WHEN contains(e.base_text, 'devices=') THEN
            regexp_replace(regexp_replace(regexp_replace(e.base_text,
              '^.*devices=\[([\d,]*),(\d+)\].*last_tile_dim_replicate.*$',
              '\1, \2 copies'
            ), '^.*devices=\[([\d,]+)\].*$', '\1'), ',(\d)', 'x\1', 'g')
          ELSE trim(e.base_text, '{}')
        END
      ELSE e.base_text END AS base_text,
      CASE WHEN contains(e.change, 'shard') THEN
        CASE
          WHEN contains(e.candidate_text, 'devices=') THEN
            regexp_replace(regexp_replace(regexp_replace(e.candidate_text,
              '^.*devices=\[([\d,]*),(\d+)\].*last_tile_dim_replicate.*$',
              '\1, \2 copies'
            ), '^.*devices=\[([\d,]+)\].*$', '\1'), ',(\d)', 'x\1', 'g')
          ELSE trim(e.candidate_text, '{}')
        END
      ELSE e.candidate_text END AS candidate_text,
      CASE
        WHEN e.change = 'replaced' AND e.candidate_text IS NULL THEN 'removed'
        WHEN e.change = 'replaced' AND e.base_text IS NULL THEN 'added'
        ELSE e.change
      END AS change
    )
  FROM (
    SELECT
      e.*, max(abs(e.delta_bytes)) OVER (PARTITION BY e.pair) AS most_bytes,
      bool_or(e.change = 'output') OVER (PARTITION BY e.pair)
        AS has_other_outputs
    FROM edits AS e
  ) AS e
  LEFT JOIN edited_pairs AS p USING (pair)
  -- What is little beside another edit may be a trace of it.
  WHERE (
    coalesce(NOT p.has_other_frames, e.has_other_outputs)
    OR e.change NOT IN ('added', 'removed', 'replaced')
    AND NOT (e.change = 'loop' AND coalesce(p.has_other_frames, FALSE))
  )
  AND (
    coalesce(abs(e.delta_bytes), e.most_bytes) >= 0.01 * e.most_bytes
    OR e.change NOT IN ('added', 'removed', 'replaced', 'retyped', 'reshaped')
  )
),
-- How many letters the folder of all files of the user has.
folders AS (
  SELECT
    f.pair,
    CASE
      WHEN f.first_file = f.last_file
        THEN length(regexp_extract(f.first_file, '^.*/'))
      ELSE length(regexp_extract(list_max(list_transform(
        range(0, length(f.first_file)),
        lambda n: CASE
          WHEN starts_with(f.last_file, left(f.first_file, n))
            THEN left(f.first_file, n)
        END
      )), '^.+/'))
    END AS width
  FROM (
    SELECT
      pair, min(file_name) AS first_file, max(file_name) AS last_file
    FROM frames
    WHERE is_user
      AND starts_with(file_name, '/')
    GROUP BY pair
  ) AS f
),
ruled AS (
  SELECT
    w.*, r.rule_id, r.advice,
    replace(replace(replace(replace(replace(
      r.sentence, '{base}', coalesce(w.base_text, 'none')),
      '{candidate}', coalesce(w.candidate_text, 'none')),
      '{subject}', coalesce(w.subject, 'the program')),
      '{operations}', w.operation_count
      || CASE
        WHEN w.operation_count = 1 THEN ' operation'
        ELSE ' operations'
      END),
      '{more}', CASE
        WHEN m.more = 0 THEN ''
        ELSE ' and ' || m.more || ' more ' || m.unit
      END) AS sentence
  FROM written AS w
  CROSS JOIN LATERAL (
    SELECT
      w.operation_count - 1 AS more,
      CASE WHEN w.change = 'output' THEN 'output' ELSE 'argument' END
      || CASE WHEN w.operation_count > 2 THEN 's' ELSE '' END AS unit
  ) AS m
  LEFT JOIN LATERAL (
    SELECT c.rule_id, c.advice, c.sentence
    FROM cause_rules() AS c
    WHERE c.change = w.change
      AND regexp_matches(
        concat(
          w.subject, ' | ', w.operations, ' |', ' ' || w.base_text, ' >',
          ' ' || w.candidate_text
        ), coalesce(c.pattern, '')
      )
    ORDER BY c.place
    LIMIT 1
  ) AS r ON TRUE
  -- Releases write one sharding in several ways.
  WHERE NOT contains(w.change, 'shard')
    OR w.base_text IS DISTINCT FROM w.candidate_text
)
SELECT
  e.pair,
  row_number() OVER (
    PARTITION BY e.pair
    ORDER BY
      e.change IN ('loop', 'recomputation', 'callback') DESC,
      abs(e.delta_bytes) DESC, e.change, e.source_file, e.candidate_line,
      e.base_line, e.subject
  ) AS place,
  e.change, e.rule_id, e.sentence, e.advice, e.base_text, e.candidate_text,
  e.subject, e.operations,
  CAST(e.operation_count AS BIGINT) AS operation_count,
  CAST(e.delta_bytes AS BIGINT) AS delta_bytes,
  CASE
    WHEN e.candidate_line IS NOT NULL
      AND starts_with(e.source_file, k.base_folder || '/')
      THEN k.own_folder || substr(e.source_file, length(k.base_folder) + 1)
    ELSE e.source_file
  END AS source_file,
  substr(e.source_file, 1 + coalesce(d.width, 0)) AS source_path,
  nullif(e.function_name, '') AS function_name, e.base_line,
  e.candidate_line,
  CASE WHEN $with_paths THEN array_to_string(e.base_paths, chr(10)) END
    AS base_paths,
  CASE WHEN $with_paths THEN array_to_string(e.candidate_paths, chr(10)) END
    AS candidate_paths
FROM ruled AS e
LEFT JOIN folders AS d USING (pair)
LEFT JOIN checkouts AS k USING (pair)
