-- Runs, their modules and files, and what else a run holds of its own.
INSERT INTO runs BY NAME
SELECT
  s.* EXCLUDE (series, labels) REPLACE (
    p.run_id AS run_id,
    p.series || '-' || p.day AS name,
    p.day + INTERVAL 2 HOUR AS started_at,
    p.day + INTERVAL 3 HOUR AS ingested_at,
    sha1('night ' || p.night) AS commit_sha,
    'main' AS branch,
    p.framework AS compiler_version,
    p.framework AS framework_version,
    p.device AS device,
    p.series || '/' || p.day AS origin
  ),
  p.series, json_object('night', p.night) AS labels
FROM (
  SELECT
    r.*, d.name AS seed_name, d.framework, d.device,
    DATE '2024-01-01' + CAST(r.night AS INTEGER) AS day
  FROM plan.runs AS r
  JOIN plan.seeds AS d USING (series, release)
) AS p
JOIN seed.runs AS s ON s.name = p.seed_name
ORDER BY p.run_id;

-- The place of a file in a night, from its place in the seed.
CREATE OR REPLACE TEMP MACRO placed(path, program, suffix, module_number, rank) AS
  'rank_' || rank || '/' || regexp_replace(
    replace(path, program, program || suffix), 'module_[0-9]+',
    'module_' || lpad(CAST(module_number AS VARCHAR), 4, '0')
  );

CREATE OR REPLACE TEMP MACRO new_unit(digest, config, edit, move) AS
  CASE WHEN digest IS NOT NULL
    THEN digest(concat_ws(' ', digest, config, edit, move)) END;

CREATE TABLE plan.modules AS
SELECT
  m.* EXCLUDE (place) REPLACE (
    o.run_id AS run_id, o.module_id AS module_id,
    CASE WHEN m.locations_id IS NOT NULL THEN o.locations_id END AS locations_id,
    o.module_number AS module_number, o.rank AS rank,
    placed(m.path, m.program, o.suffix, o.module_number, o.rank) AS path,
    replace(m.name, m.program, m.program || o.suffix) AS name,
    m.program || o.suffix AS program,
    digest(concat_ws(' ', m.program_key, o.config)) AS program_key,
    digest(concat_ws(' ', m.graph_fingerprint, o.config)) AS graph_fingerprint,
    digest(concat_ws(' ', m.exact_fingerprint, o.config, o.edit))
      AS exact_fingerprint,
    m.printed_total_bytes + coalesce(g.growth_bytes, 0) AS printed_total_bytes,
    new_unit(m.unit_digest, o.config, o.edit, o.move) AS unit_digest
  )
FROM plan.occurrences AS o
JOIN plan.seed_modules AS m ON m.place = o.seed_place
LEFT JOIN plan.grown AS g ON g.module_id = o.module_id
ORDER BY o.run_id, o.rank, o.module_number, o.seed_place;

-- Files of a module are read in the night that brings their bytes.
CREATE TABLE plan.files AS
SELECT
  s.run_id, s.job, s.config, s.edit, s.move, l.rank, l.module_number,
  c.seed_run_id, c.seed_number, f.place AS seed_place, f.path AS seed_path,
  placed(f.path, s.program, s.suffix, l.module_number, l.rank) AS path
FROM plan.states AS s
JOIN plan.slots AS l USING (job)
JOIN plan.compiles AS c
  ON c.series = s.series
  AND c.program = s.program
  AND c.release = s.release
JOIN plan.seed_files AS f
  ON f.run_id = c.seed_run_id
  AND regexp_extract(f.path, 'module_0*([0-9]+)', 1)
    = CAST(c.seed_number AS VARCHAR);

CREATE TABLE plan.dump_files AS
SELECT
  f.* EXCLUDE (place) REPLACE (
    p.run_id AS run_id, p.path AS path,
    CASE WHEN f.module_id IS NOT NULL
      THEN digest(concat_ws(' ', f.module_id, p.config, p.edit)) END AS module_id,
    sha256(concat_ws(' ', f.sha256, p.config, p.edit, p.move)) AS sha256,
    CASE
      WHEN f.status = 'loaded'
        AND f.module_id IS NOT NULL
        AND row_number() OVER (
          PARTITION BY p.seed_place, p.config, p.edit, p.move
          ORDER BY p.run_id, p.rank
        ) > 1
      THEN 'duplicate'
      ELSE f.status
    END AS status
  )
FROM plan.files AS p
JOIN plan.seed_files AS f ON f.place = p.seed_place
ORDER BY p.run_id, p.path;

-- Compiler flags of modules by their numbers, those of the whole run by its release.
INSERT INTO compiler_flags BY NAME
SELECT f.* REPLACE (p.run_id AS run_id, p.module_number AS module_number)
FROM (
  SELECT DISTINCT run_id, seed_run_id, seed_number, module_number FROM plan.files
  UNION ALL
  SELECT r.run_id, s.run_id, NULL, NULL
  FROM plan.runs AS r
  JOIN plan.seeds AS d USING (series, release)
  JOIN seed.runs AS s USING (name)
) AS p
JOIN seed.compiler_flags AS f
  ON f.run_id = p.seed_run_id
  AND f.module_number IS NOT DISTINCT FROM p.seed_number
ORDER BY p.run_id, f.name;

INSERT INTO proto_comparisons BY NAME
SELECT c.* REPLACE (p.run_id AS run_id, p.path AS path)
FROM plan.files AS p
JOIN seed.proto_comparisons AS c
  ON c.run_id = p.seed_run_id
  AND c.path = p.seed_path
ORDER BY p.run_id, p.path;
