-- Who is compiled when, and from which text: the tables of `plan`, out of the seeds.

-- A number from 0 to 1 that `key` alone decides, beside the seed.
CREATE OR REPLACE TEMP MACRO draw(key) AS
  md5_number_lower(getvariable('seed') || ' ' || key) / 18446744073709551616.0;

-- A 64-bit key, as a digest of what `text` says would be.
CREATE OR REPLACE TEMP MACRO digest(text) AS
  CAST(md5_number_lower(text) >> 1 AS BIGINT);

CREATE TABLE plan.runs AS
WITH turns AS (
  SELECT
    series, max(release) AS last_release,
    row_number() OVER (ORDER BY series) - 1 AS turn, count(*) OVER () AS turns
  FROM plan.seeds
  GROUP BY series
)
SELECT
  run_number AS run_id, t.series, (run_number - 1) // t.turns AS night,
  least(t.last_release, (run_number - 1) // t.turns // getvariable('upgrade'))
    AS release
FROM generate_series(1, getvariable('runs')) AS g(run_number)
JOIN turns AS t ON t.turn = (run_number - 1) % t.turns;

CREATE TABLE plan.seed_modules AS
SELECT *, row_number() OVER (ORDER BY run_id, path, part) AS place
FROM seed.modules;

CREATE TABLE plan.seed_files AS
SELECT *, row_number() OVER (ORDER BY run_id, path) AS place
FROM seed.dump_files;

-- A compile is one program of one seed: its modules, and files of one number.
CREATE TABLE plan.compiles AS
SELECT
  s.series, s.release, m.run_id AS seed_run_id, m.program,
  min(m.module_number) AS seed_number
FROM plan.seeds AS s
JOIN seed.runs AS r USING (name)
JOIN plan.seed_modules AS m USING (run_id)
GROUP BY ALL;

CREATE TABLE plan.compiled_modules AS
SELECT c.series, c.release, c.program, m.*
FROM plan.compiles AS c
JOIN plan.seed_modules AS m
  ON m.run_id = c.seed_run_id
  AND m.module_number = c.seed_number;

-- A slot is a program of a configuration on a rank: what one night compiles, until the
-- night has its number of modules.
CREATE TABLE plan.slots AS
WITH counted AS (
  SELECT series, release, program, count(*) AS module_count
  FROM plan.compiled_modules
  GROUP BY ALL
),
programs AS (
  -- Some programs come with a later release: they count less, over all releases.
  SELECT p.series, p.program, avg(coalesce(c.module_count, 0)) AS module_count
  FROM (SELECT DISTINCT series, program FROM counted) AS p
  JOIN plan.seeds AS s USING (series)
  ASOF LEFT JOIN counted AS c
    ON c.series = p.series
    AND c.program = p.program
    AND c.release <= s.release
  GROUP BY ALL
),
lined_up AS (
  SELECT
    p.series, p.program, c.config, r.rank, p.module_count,
    row_number() OVER (PARTITION BY p.series, c.config, r.rank ORDER BY p.program)
      AS number_in_config,
    sum(p.module_count) OVER (
      PARTITION BY p.series ORDER BY c.config, p.program, r.rank
    ) AS modules_so_far
  FROM programs AS p
  CROSS JOIN generate_series(0, getvariable('modules')) AS c(config)
  CROSS JOIN generate_series(0, getvariable('ranks') - 1) AS r(rank)
)
SELECT
  series, program, config, rank, 100 * config + number_in_config AS module_number,
  CASE WHEN config > 0 THEN '_b' || config ELSE '' END AS suffix,
  series || ' ' || program || ' ' || config AS job
FROM lined_up
WHERE modules_so_far - module_count < getvariable('modules');

-- A job, which all ranks share, at a night: the latest release that has the program, the
-- night of its last edit and the night in which its source lines last moved.
CREATE TABLE plan.states AS
WITH jobs AS (
  SELECT DISTINCT series, program, config, suffix, job FROM plan.slots
),
nights AS (
  SELECT
    r.run_id, r.night, j.*,
    (
      SELECT max(c.release) FROM plan.compiles AS c
      WHERE c.series = j.series AND c.program = j.program AND c.release <= r.release
    ) AS release,
    r.night > 0 AND draw('edit ' || j.job || ' ' || r.night)
      < getvariable('changed') AS is_edited,
    r.night > 0 AND draw('move ' || j.job || ' ' || r.night)
      < getvariable('moved') AS is_moved
  FROM plan.runs AS r
  JOIN jobs AS j USING (series)
)
SELECT
  n.* EXCLUDE (is_edited, is_moved),
  max(CASE WHEN is_edited THEN night ELSE 0 END) OVER history AS edit,
  max(CASE WHEN is_edited OR is_moved THEN night ELSE 0 END) OVER history AS move
FROM nights AS n
WINDOW history AS (PARTITION BY job ORDER BY night);

-- Every occurrence of a module, with the keys of its content.
CREATE TABLE plan.occurrences AS
SELECT
  s.run_id, s.night, s.job, s.config, s.suffix, s.edit, s.move, l.rank,
  l.module_number, m.run_id AS seed_run_id, m.place AS seed_place,
  m.module_id AS seed_module_id, m.locations_id AS seed_locations_id,
  digest(concat_ws(' ', m.module_id, s.config, s.edit)) AS module_id,
  digest(concat_ws(' ', m.locations_id, s.config, s.move)) AS locations_id
FROM plan.states AS s
JOIN plan.slots AS l USING (job)
JOIN plan.compiled_modules AS m
  ON m.series = s.series
  AND m.program = s.program
  AND m.release = s.release;

-- Contents in the order in which nights bring them.
CREATE TABLE plan.contents AS
SELECT
  row_number() OVER (ORDER BY min(run_id), min(job), min(seed_place)) AS content,
  module_id, seed_module_id, min(config) AS config, min(edit) AS edit,
  min(run_id) AS first_run_id
FROM plan.occurrences
GROUP BY module_id, seed_module_id;

CREATE TABLE plan.located AS
SELECT
  row_number() OVER (ORDER BY min(run_id), min(job), min(seed_place)) AS content,
  locations_id, seed_locations_id, min(move) AS move
FROM plan.occurrences
WHERE seed_locations_id IS NOT NULL
GROUP BY locations_id, seed_locations_id;
