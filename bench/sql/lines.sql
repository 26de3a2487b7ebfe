-- Source lines that moved.
UPDATE locations AS t SET
  source_line = t.source_line + l.move,
  source_end_line = t.source_end_line + l.move
FROM plan.located AS l
WHERE t.locations_id = l.locations_id AND l.move > 0 AND t.source_line IS NOT NULL;

UPDATE stack_frames AS t SET line = t.line + l.move
FROM plan.located AS l
WHERE t.locations_id = l.locations_id AND l.move > 0;
