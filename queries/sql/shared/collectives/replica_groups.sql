-- title: Size of replica groups
-- question: How many groups of how many devices does a collective work on?
-- definition: Parses all forms of replica_groups in the last snapshots.
--   {{0,1},{2,3}} lists groups; the largest counts. [2,4]<=[8] is 2 groups of
--   4. mesh['a'=2,'b'=4] {'b'} is groups of the product of the named axes
--   ('b':(1)2 is a part of size 2 of an axis). Empty groups are all replicas
--   and partitions together. The groups of a collective-permute are the sets
--   of devices that its source_target_pairs connect, such as rings.
-- grain: module content, instruction
-- param run
-- param program
-- column module_id
-- column instruction_id
-- column replica_groups VARCHAR text neutral: As printed.
-- column group_count BIGINT count neutral: Number of groups.
-- column group_size BIGINT count neutral: Devices of the largest group.
WITH RECURSIVE forms AS MATERIALIZED (
  -- Patterns are matched with each form, not with each instruction.
  SELECT
    form_id, replica_groups,
    regexp_extract(attributes, 'source_target_pairs=\{([0-9{}, ]*)\}', 1)
      AS pairs
  FROM store.instruction_forms
  WHERE regexp_matches(
    opcode,
    '^(all-gather|all-reduce|all-to-all|ragged-all-to-all|reduce-scatter'
      || '|collective-broadcast|collective-permute)(-start)?$'
  )
),
chosen AS MATERIALIZED (
  SELECT DISTINCT module_id
  FROM final_modules()
),
printed AS (
  SELECT DISTINCT
    i.module_id, i.instruction_id, f.replica_groups, f.pairs,
    greatest(coalesce(n.num_partitions, 1), 1)
      * greatest(coalesce(n.replica_count, 1), 1)
      AS device_count
  FROM chosen AS m
  JOIN store.instructions AS i USING (module_id)
  JOIN forms AS f USING (form_id)
  JOIN (
    SELECT
      module_id, max(num_partitions) AS num_partitions,
      max(replica_count) AS replica_count
    FROM store.snapshots
    GROUP BY module_id
  ) AS n USING (module_id)
),
lists AS MATERIALIZED (
  SELECT pairs, row_number() OVER (ORDER BY pairs) AS list_id
  FROM (SELECT DISTINCT pairs FROM printed WHERE pairs <> '') AS d
),
links AS MATERIALIZED (
  SELECT list_id, ends[1] AS device, ends[2] AS other
  FROM (
    SELECT
      list_id,
      string_split(
        unnest(regexp_extract_all(pairs, '[0-9]+, *[0-9]+')), ','
      ) AS ends
    FROM lists
  ) AS p
),
neighbours AS MATERIALIZED (
  SELECT
    list_id, CAST(device AS BIGINT) AS device, CAST(other AS BIGINT) AS other
  FROM links
  UNION
  SELECT list_id, CAST(other AS BIGINT), CAST(device AS BIGINT)
  FROM links
),
-- A device and the one whose number it has take the least number that a
-- neighbour of it has, until none falls any more: few rounds even in a long
-- ring.
labelled AS (
  SELECT DISTINCT list_id, device, device AS label, TRUE AS is_falling
  FROM neighbours
  UNION ALL
  SELECT
    list_id, device, min(label) AS label,
    bool_or(min(label) < max(label_before)) OVER (PARTITION BY list_id)
      AS is_falling
  FROM (
    SELECT a.list_id, a.device, b.label, a.label AS label_before
    FROM labelled AS a
    JOIN labelled AS b
      ON b.list_id = a.list_id
      AND b.device = a.label
    WHERE a.is_falling
    UNION ALL
    SELECT a.list_id, unnest([a.device, a.label]) AS device, b.label, NULL
    FROM labelled AS a
    JOIN neighbours AS n USING (list_id, device)
    JOIN labelled AS b
      ON b.list_id = n.list_id
      AND b.device = n.other
    WHERE a.is_falling
  ) AS offered
  GROUP BY list_id, device
),
permuted AS (
  SELECT
    list_id, count(*) AS group_count, max(device_count) AS group_size
  FROM (
    SELECT list_id, label, count(*) AS device_count
    FROM (
      SELECT list_id, device, min(label) AS label
      FROM labelled
      GROUP BY list_id, device
    ) AS last_labels
    GROUP BY list_id, label
  ) AS connected
  GROUP BY list_id
),
parsed AS (
  SELECT
    *,
    regexp_extract_all(replica_groups, '\{[0-9, ]+\}') AS groups,
    regexp_extract(replica_groups, '^\[([0-9]+),', 1) AS iota_count,
    regexp_extract(replica_groups, '^\[[0-9]+,([0-9]+)\]', 1) AS iota_size,
    regexp_extract(replica_groups, '^[a-z_]*mesh\[([^\]]*)\]', 1) AS mesh,
    regexp_extract_all(
      regexp_extract(replica_groups, '\{([^{}]*)\}$', 1),
      '''[^'']+''(:\([0-9]+\)[0-9]+)?'
    ) AS axes
  FROM printed
),
sized AS (
  SELECT
    *,
    list_reduce(
      list_transform(axes, lambda axis: CASE
        WHEN axis LIKE '%:(%'
        THEN TRY_CAST(regexp_extract(axis, '\)([0-9]+)$', 1) AS BIGINT)
        ELSE TRY_CAST(
          regexp_extract(mesh, regexp_escape(axis) || '=([0-9]+)', 1) AS BIGINT
        )
      END),
      lambda x, y: x * y, CAST(1 AS HUGEINT)
    ) AS mesh_size,
    list_max(list_transform(
      groups, lambda g: len(g) - len(replace(g, ',', '')) + 1
    )) AS listed_size
  FROM parsed
)
SELECT
  module_id, instruction_id, replica_groups,
  CASE
    WHEN p.list_id IS NOT NULL THEN p.group_count
    WHEN len(groups) > 0 THEN CAST(len(groups) AS BIGINT)
    WHEN iota_count <> '' THEN CAST(iota_count AS BIGINT)
    WHEN mesh <> '' THEN CAST(
      greatest(device_count // mesh_size, 1) AS BIGINT
    )
    ELSE 1
  END AS group_count,
  CASE
    WHEN p.list_id IS NOT NULL THEN p.group_size
    WHEN len(groups) > 0 THEN CAST(listed_size AS BIGINT)
    WHEN iota_size <> '' THEN CAST(iota_size AS BIGINT)
    WHEN mesh <> '' THEN CAST(mesh_size AS BIGINT)
    ELSE device_count
  END AS group_size
FROM sized
LEFT JOIN lists USING (pairs)
LEFT JOIN permuted AS p USING (list_id)
