-- Which of the pairs $pairs of shapes are not comparable, by their place from 0.
SELECT p.place - 1
FROM (
  SELECT unnest(from_json($pairs, '[{
    "base_key": "BIGINT", "base_shapes": "VARCHAR", "base_source": "VARCHAR",
    "base_partitions": "BIGINT", "base_platform": "VARCHAR",
    "candidate_key": "BIGINT", "candidate_shapes": "VARCHAR",
    "candidate_source": "VARCHAR", "candidate_partitions": "BIGINT",
    "candidate_platform": "VARCHAR"
  }]')) AS s, generate_subscripts(json_extract($pairs, '$[*]'), 1) AS place
) AS p,
LATERAL (
  SELECT d.differing_keys
  FROM differing_keys(
    base_key := p.s.base_key, base_shapes := p.s.base_shapes,
    base_source := p.s.base_source, base_partitions := p.s.base_partitions,
    base_platform := p.s.base_platform, candidate_key := p.s.candidate_key,
    candidate_shapes := p.s.candidate_shapes,
    candidate_source := p.s.candidate_source,
    candidate_partitions := p.s.candidate_partitions,
    candidate_platform := p.s.candidate_platform
  ) AS d
) AS k
WHERE k.differing_keys <> ''
