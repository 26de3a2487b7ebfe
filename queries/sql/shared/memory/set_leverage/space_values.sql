-- step: Values with their places. is_standing: an allocation without any live
--   range is held all the time.
-- grain: value
SELECT
  *,
  kind <> 'temp' AND max(start_step) OVER (
    PARTITION BY module_id, allocation_id
  ) IS NULL AS is_standing
FROM value_places()
WHERE kind <> 'thread_local'
