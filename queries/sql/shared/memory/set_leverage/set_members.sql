-- step: The values of each set, as they are asked for.
-- grain: set, value
SELECT
  unnest($member_modules) AS module_id,
  unnest($member_locations) AS locations_id,
  unnest($member_sets) AS name_of_set, unnest($member_values) AS value_id,
  coalesce(unnest($member_parts), 1) AS part,
  coalesce(unnest($member_wholes), 2) AS whole,
  coalesce(unnest($member_apart), 0) AS is_apart,
  unnest($member_from) AS from_step, unnest($member_until) AS until_step
