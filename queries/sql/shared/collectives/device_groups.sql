-- title: Devices of replica groups
-- question: Which devices does each form of replica_groups put together?
-- definition: Every form lists the same thing: {{0,1},{2,3}} in full;
--   [2,2]<=[4] the devices in order; [2,2]<=[2,2]T(1,0) in the order of the
--   transposed array; mesh['a'=2,'b'=2] {'b'} along the named axes of a mesh
--   ('b':(1)2 is a part of an axis), whose devices are in order or in that of
--   device_ids. The order of devices in a group counts, that of the groups
--   does not: they are sorted. A form of more than 1,048,576 devices, and one
--   that cannot be read, is as printed, without spaces.
-- grain: form of replica_groups
-- param run
-- param program
-- column replica_groups VARCHAR text neutral: As printed.
-- column device_groups VARCHAR text neutral: The groups listed in full.
WITH forms AS MATERIALIZED (
  SELECT DISTINCT g.replica_groups
  FROM replica_groups() AS g
  WHERE g.replica_groups IS NOT NULL
),
listed AS (
  SELECT
    replica_groups,
    string_agg(g.members, ',' ORDER BY g.members) AS device_groups
  FROM (
    SELECT
      replica_groups,
      unnest(regexp_extract_all(
        replace(replica_groups, ' ', ''), '\{[0-9,]+\}'
      )) AS members
    FROM forms
    WHERE starts_with(replica_groups, '{')
  ) AS g
  GROUP BY replica_groups
),
-- [2,4]<=... is a mesh of two axes, whose second is within a group.
printed AS (
  SELECT
    replica_groups, 'i' AS kind,
    ['g', 's'] AS axis_names,
    string_split(
      regexp_extract(replica_groups, '^\[([0-9]+,[0-9]+)\]<=', 1), ','
    ) AS axis_sizes,
    ['s'] AS parts,
    regexp_extract(replica_groups, '<=\[([0-9,]+)\]', 1) AS order_sizes,
    regexp_extract(replica_groups, '\]T\(([0-9,]+)\)', 1) AS order_places,
    '' AS device_list
  FROM forms
  WHERE regexp_matches(replica_groups, '^\[[0-9]+,[0-9]+\]<=\[[0-9,]+\]')
  UNION ALL
  SELECT
    replica_groups, 'm',
    regexp_extract_all(
      regexp_extract(replica_groups, 'mesh\[([^\]]*)\]', 1),
      '''([^'']+)''=[0-9]+', 1
    ),
    regexp_extract_all(
      regexp_extract(replica_groups, 'mesh\[([^\]]*)\]', 1),
      '''[^'']+''=([0-9]+)', 1
    ),
    regexp_extract_all(
      regexp_extract(replica_groups, '\{([^{}]*)\}$', 1),
      '''([^'']+''(?::\([0-9]+\)[0-9]+)?)', 1
    ),
    regexp_extract(replica_groups, 'device_ids=\(\[([0-9,]+)\]', 1),
    regexp_extract(replica_groups, '\]T\(([0-9,]+)\)', 1),
    regexp_extract(replica_groups, 'device_ids=\(([0-9,]+)\)', 1)
  FROM forms
  WHERE regexp_matches(replica_groups, '^[a-z_]*mesh\[')
),
read AS (
  SELECT
    p.replica_groups, p.axis_names, p.device_list,
    list_transform(p.axis_sizes, lambda x: TRY_CAST(x AS BIGINT))
      AS axis_sizes,
    list_transform(p.parts, lambda x: {
      'axis': split_part(x, '''', 1),
      'before': coalesce(
        TRY_CAST(regexp_extract(x, ':\(([0-9]+)\)', 1) AS BIGINT), 1
      ),
      'size': TRY_CAST(regexp_extract(x, '\)([0-9]+)$', 1) AS BIGINT)
    }) AS parts,
    list_transform(
      string_split(p.order_sizes, ','), lambda x: TRY_CAST(x AS BIGINT)
    ) AS order_sizes,
    list_transform(
      string_split(p.order_places, ','), lambda x: TRY_CAST(x AS BIGINT)
    ) AS order_places
  FROM printed AS p
),
-- Products are DOUBLE: sizes of a hostile form overflow nothing.
sized AS (
  SELECT
    *, list_product(axis_sizes) AS device_count
  FROM read
),
meshes AS MATERIALIZED (
  SELECT
    replica_groups, axis_names, axis_sizes, parts,
    CASE WHEN device_list <> '' THEN string_split(device_list, ',') END
      AS device_list,
    CAST(device_count AS BIGINT) AS device_count,
    coalesce(order_sizes, []) AS order_sizes,
    CASE WHEN order_places[1] IS NOT NULL THEN order_places
      ELSE range(len(order_sizes)) END AS order_places
  FROM sized
  WHERE device_count BETWEEN 1 AND 1048576
    AND len(parts) = len(list_distinct(list_transform(
      parts, lambda p: p.axis
    )))
    AND list_has_all(axis_names, list_transform(parts, lambda p: p.axis))
    AND coalesce(list_product(order_sizes), device_count) = device_count
    AND (
      order_places[1] IS NULL
      OR list_sort(order_places) = range(len(order_sizes))
    )
    AND (
      device_list = ''
      OR len(string_split(device_list, ',')) = device_count
    )
),
-- The coordinate of position n along an axis is n // stride % size.
axes AS (
  SELECT
    replica_groups, axis_names[place] AS axis, axis_sizes[place] AS size,
    CAST(list_product(list_append(axis_sizes[place + 1:], 1)) AS BIGINT)
      AS stride
  FROM (
    SELECT *, unnest(range(1, len(axis_sizes) + 1)) AS place FROM meshes
  ) AS m
),
axis_parts AS (
  SELECT
    replica_groups, generate_subscripts(parts, 1) AS place,
    unnest(parts) AS part
  FROM meshes
),
factors AS (
  -- The part of an axis that groups go along, and what is before and after it.
  SELECT
    a.replica_groups, f.place, f.size, f.stride
  FROM axes AS a
  LEFT JOIN axis_parts AS p
    ON p.replica_groups = a.replica_groups
    AND p.part.axis = a.axis,
  LATERAL (
    SELECT
      NULL AS place, coalesce(p.part.before, a.size) AS size,
      a.stride * a.size // coalesce(p.part.before, a.size) AS stride
    UNION ALL
    SELECT
      p.place, coalesce(p.part.size, a.size),
      a.stride * a.size // p.part.before // coalesce(p.part.size, a.size)
    WHERE p.place IS NOT NULL
    UNION ALL
    SELECT
      NULL, a.size // p.part.before // coalesce(p.part.size, a.size), a.stride
    WHERE p.place IS NOT NULL
  ) AS f
),
positions AS (
  SELECT replica_groups, unnest(range(device_count)) AS number
  FROM meshes
),
grouped AS (
  SELECT
    n.replica_groups, n.number,
    coalesce(sum(n.number // f.stride % f.size * f.stride)
      FILTER (WHERE f.place IS NULL), 0) AS group_number,
    list(n.number // f.stride % f.size ORDER BY f.place)
      FILTER (WHERE f.place IS NOT NULL) AS member_place
  FROM positions AS n
  JOIN factors AS f USING (replica_groups)
  GROUP BY n.replica_groups, n.number
),
orders AS (
  SELECT
    replica_groups,
    order_sizes[order_places[place] + 1] AS size,
    CAST(list_product(list_append(
      order_sizes[order_places[place] + 2:], 1
    )) AS BIGINT) AS stride,
    CAST(list_product(list_append(list_transform(
      order_places[place + 1:], lambda x: order_sizes[x + 1]
    ), 1)) AS BIGINT) AS transposed_stride
  FROM (
    SELECT *, unnest(range(1, len(order_places) + 1)) AS place FROM meshes
  ) AS m
),
devices AS (
  SELECT
    n.replica_groups, n.number,
    CAST(coalesce(
      sum(n.number // o.transposed_stride % o.size * o.stride), n.number
    ) AS BIGINT) AS device
  FROM positions AS n
  LEFT JOIN orders AS o USING (replica_groups)
  GROUP BY n.replica_groups, n.number
),
members AS (
  SELECT
    g.replica_groups,
    '{' || string_agg(
      coalesce(m.device_list[g.number + 1], CAST(d.device AS VARCHAR)),
      ',' ORDER BY g.member_place
    ) || '}' AS members
  FROM grouped AS g
  JOIN devices AS d USING (replica_groups, number)
  JOIN meshes AS m USING (replica_groups)
  GROUP BY g.replica_groups, g.group_number
),
expanded AS (
  SELECT
    replica_groups, string_agg(members, ',' ORDER BY members) AS device_groups
  FROM members
  GROUP BY replica_groups
)
SELECT
  f.replica_groups,
  coalesce(
    '{' || coalesce(l.device_groups, e.device_groups) || '}',
    replace(f.replica_groups, ' ', '')
  ) AS device_groups
FROM forms AS f
LEFT JOIN listed AS l USING (replica_groups)
LEFT JOIN expanded AS e USING (replica_groups)
