-- step: Programs with a Jacobian for each example, which is of two jax.vmap.
-- grain: program
SELECT DISTINCT module_id
FROM arrays
WHERE regexp_matches(name, 'vmap\(vmap\((jvp|transpose)\(')
