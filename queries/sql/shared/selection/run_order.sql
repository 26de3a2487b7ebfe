-- title: Runs, the latest first
-- question: In which order do runs follow one another?
-- definition: place 1 is the latest: the greatest started_at, then the
--   greatest name, so that every warehouse of the same runs has the same
--   order; runs without started_at come last. Numbers in names count as
--   numbers: v0.10 follows v0.9.
-- grain: run
-- column run_id
-- column run
-- column series
-- column platform
-- column device VARCHAR name neutral: Chip or GPU architecture.
-- column place BIGINT id neutral: Position, 1 for the latest run.
SELECT
  r.run_id, r.name AS run, r.series, r.platform, r.device,
  row_number() OVER (
    ORDER BY
      r.started_at DESC NULLS LAST,
      list_transform(
        regexp_extract_all(r.name, '[0-9]+|[^0-9]+'),
        lambda part: CASE
          WHEN part[1] BETWEEN '0' AND '9'
            THEN repeat('0', 20 - len(part)) || part
          ELSE part
        END
      ) DESC,
      r.name DESC
  ) AS place
FROM runs AS r
