-- step: Modules of both sides, with the rank and name by which they are
--   compared.
-- grain: pair, side, module
SELECT
  p.pair, s.is_candidate, m.* EXCLUDE (rank, run_id),
  CASE WHEN p.is_one_host THEN p.host_rank ELSE m.rank END AS rank,
  CASE
    WHEN s.is_candidate THEN m.program
    WHEN $base_program IS NOT NULL AND $candidate_program IS NOT NULL
      THEN $candidate_program
    ELSE m.program
  END AS called
FROM run_pairs AS p
CROSS JOIN (SELECT unnest([FALSE, TRUE]) AS is_candidate) AS s
JOIN compiled_modules AS m
  ON m.run_id
    = CASE WHEN s.is_candidate THEN p.candidate_run_id ELSE p.base_run_id END
WHERE CASE WHEN s.is_candidate THEN $candidate_program ELSE $base_program END
    IS NULL
  OR m.program
    = CASE WHEN s.is_candidate THEN $candidate_program ELSE $base_program END
