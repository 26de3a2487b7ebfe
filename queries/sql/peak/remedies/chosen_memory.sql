-- step: The memory space of each program that is asked for.
-- grain: module occurrence
SELECT m.*
FROM selected_memory(color := coalesce($color, 0)) AS m
WHERE m.live_peak_bytes > 0
