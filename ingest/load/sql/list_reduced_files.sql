-- Files of passes that --passes metrics or none left out, wholly or in part.
SELECT path
FROM modules
WHERE run_id = $run_id AND stage = 'pass' AND NOT is_detailed
UNION
SELECT path
FROM dump_files
WHERE run_id = $run_id AND reason = 'left out by --passes none'
