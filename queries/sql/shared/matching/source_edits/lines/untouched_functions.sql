-- step: Functions that both sides have, and that nobody edited.
-- grain: pair, file, function
SELECT f.pair, f.file_name, f.function_name
FROM frames AS f
ANTI JOIN edited_functions AS e USING (pair, file_name, function_name)
GROUP BY f.pair, f.file_name, f.function_name
HAVING count(DISTINCT f.is_candidate) = 2
