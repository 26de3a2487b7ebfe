-- step: The law with the smallest squares for its number of terms: each set of
--   a constant, linear and quadratic term is fitted by the normal equations,
--   by the rule of Cramer.
-- grain: law
-- materialised: no
WITH candidates AS (
  SELECT law, 1 AS terms, t0 / n AS a, 0.0 AS b, 0.0 AS c FROM power_sums
  UNION ALL
  SELECT law, 1, 0.0, t1 / s2, 0.0 FROM power_sums
  UNION ALL
  SELECT law, 1, 0.0, 0.0, t2 / s4 FROM power_sums
  UNION ALL
  SELECT
    law, 2, (t0 * s2 - t1 * s1) / (n * s2 - s1 * s1),
    (t1 * n - t0 * s1) / (n * s2 - s1 * s1), 0.0
  FROM power_sums
  UNION ALL
  SELECT
    law, 2, (t0 * s4 - t2 * s2) / (n * s4 - s2 * s2), 0.0,
    (t2 * n - t0 * s2) / (n * s4 - s2 * s2)
  FROM power_sums
  UNION ALL
  SELECT
    law, 2, 0.0, (t1 * s4 - t2 * s3) / (s2 * s4 - s3 * s3),
    (t2 * s2 - t1 * s3) / (s2 * s4 - s3 * s3)
  FROM power_sums
  UNION ALL
  SELECT
    law, 3,
    (
      t0 * (s2 * s4 - s3 * s3) - s1 * (t1 * s4 - t2 * s3)
      + s2 * (t1 * s3 - t2 * s2)
    ) / determinant,
    (
      n * (t1 * s4 - t2 * s3) - t0 * (s1 * s4 - s2 * s3)
      + s2 * (s1 * t2 - s2 * t1)
    ) / determinant,
    (
      n * (s2 * t2 - s3 * t1) - s1 * (s1 * t2 - s2 * t1)
      + t0 * (s1 * s3 - s2 * s2)
    ) / determinant
  FROM (
    SELECT
      *,
      n * (s2 * s4 - s3 * s3) - s1 * (s1 * s4 - s2 * s3)
      + s2 * (s1 * s3 - s2 * s2) AS determinant
    FROM power_sums
  )
  WHERE size_count > 3
),
fitted_laws AS (
  SELECT
    c.law, c.terms, c.a, c.b, c.c,
    sum((p.y - c.a - c.b * p.x - c.c * p.x * p.x) ** 2) AS squares,
    max(abs(p.y - c.a - c.b * p.x - c.c * p.x * p.x)) AS max_residual
  FROM candidates AS c
  JOIN points AS p USING (law)
  WHERE c.a >= 0
    AND c.b >= 0
    AND c.c >= 0
  GROUP BY c.law, c.terms, c.a, c.b, c.c
)
SELECT f.*
FROM fitted_laws AS f
JOIN power_sums AS s USING (law)
-- Two sizes leave nothing over: a straight line fits, and is taken.
WHERE (s.n > f.terms OR (s.size_count = 2 AND f.terms = 2))
  AND s.size_count >= $min_sizes
QUALIFY row_number() OVER (
  PARTITION BY f.law
  ORDER BY
    round(f.squares / greatest(s.n - f.terms, 1), 12), f.terms, f.c, f.b
) = 1
