-- step: Sums of their powers.
-- grain: law
-- materialised: no
SELECT
  law, subject, space_color, axis, other_axes, part, count(*) AS n,
  count(DISTINCT size) AS size_count, min(size) AS min_size,
  max(size) AS max_size, arg_max(sighting, (size, sighting)) AS greatest,
  max(bytes) AS max_bytes, sum(x) AS s1,
  sum(x * x) AS s2, sum(x ** 3) AS s3, sum(x ** 4) AS s4, sum(y) AS t0,
  sum(x * y) AS t1, sum(x * x * y) AS t2, sum(y * y) AS yy
FROM points
WHERE y IS NOT NULL
GROUP BY law, subject, space_color, axis, other_axes, part
