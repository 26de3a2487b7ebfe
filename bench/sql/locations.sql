-- Source locations: the numbering is as in the seed, lists and frames move.
CREATE OR REPLACE TEMP MACRO moved(id, move) AS
  CASE WHEN move = 0 THEN id ELSE digest(concat_ws(' ', id, move)) END;

CREATE TABLE plan.location_sets AS
SELECT
  l.content, l.move, l.locations_id, s.numbering_id,
  s.list_id AS seed_list_id, moved(s.list_id, l.move) AS list_id,
  s.frames_id AS seed_frames_id, moved(s.frames_id, l.move) AS frames_id
FROM plan.located AS l
JOIN seed.store.location_sets AS s ON s.locations_id = l.seed_locations_id;

INSERT INTO store.location_sets BY NAME
SELECT locations_id, numbering_id, list_id, frames_id
FROM plan.location_sets
ORDER BY content;

INSERT INTO store.location_numbers BY NAME
SELECT n.*
FROM seed.store.location_numbers AS n
SEMI JOIN plan.location_sets USING (numbering_id)
ORDER BY n.rowid;

INSERT INTO store.location_lists BY NAME
SELECT t.* REPLACE (
  s.list_id AS list_id,
  t.source_line + s.move AS source_line,
  t.source_end_line + s.move AS source_end_line
)
FROM (
  SELECT list_id, seed_list_id, move, min(content) AS content
  FROM plan.location_sets
  GROUP BY ALL
) AS s
JOIN seed.store.location_lists AS t ON t.list_id = s.seed_list_id
ORDER BY s.content, t.rowid;

INSERT INTO store.stack_frames BY NAME
SELECT t.* REPLACE (s.frames_id AS frames_id, t.line + s.move AS line)
FROM (
  SELECT frames_id, seed_frames_id, move, min(content) AS content
  FROM plan.location_sets
  GROUP BY ALL
) AS s
JOIN seed.store.stack_frames AS t ON t.frames_id = s.seed_frames_id
ORDER BY s.content, t.rowid;
