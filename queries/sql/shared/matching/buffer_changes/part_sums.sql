-- step: Sums of parts of one kind.
-- grain: pair, memory space, part, kind of allocation
SELECT
  f.pair, f.space_color, f.part, f.kind, sum(f.delta) AS part_delta,
  count(*) AS part_count
FROM parts AS f
GROUP BY f.pair, f.space_color, f.part, f.kind
