-- step: The innermost of the user's calls that lead to each frame.
-- grain: pair, side, frame
SELECT
  pair, is_candidate, frame_id,
  arg_min(file_name, distance) AS file_name,
  arg_min(function_name, distance) AS function_name,
  arg_min(line, distance) AS line, arg_min(site, distance) AS site
FROM call_sites
GROUP BY pair, is_candidate, frame_id
