-- step: The platform of each program.
-- grain: program
SELECT module_id, any_value(platform) AS platform
FROM selected_modules()
GROUP BY module_id
