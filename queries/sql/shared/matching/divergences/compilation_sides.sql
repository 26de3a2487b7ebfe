-- step: Both compilations of each pair.
-- grain: pair, side
-- materialised: no
SELECT p.pair, FALSE AS is_candidate, unnest(p.b) FROM compiled_pairs AS p
UNION ALL
SELECT p.pair, TRUE, unnest(p.c) FROM compiled_pairs AS p
