-- title: Memory spaces that the compiler fills as a cache
-- question: In which memory spaces is more in use not worse, while it fits?
-- definition: XLA places values in these spaces as long as there is room, to
--   save reads of the main memory (see MemorySpaceAssignment in XLA). What
--   does not fit stays in the main memory, and is a difference there.
-- grain: platform, memory space
-- column platform
-- column space_name
SELECT r.platform, r.space_name
FROM (VALUES
  ('tpu', 'VMEM'),
  ('tpu', 'SMEM')
) AS r (platform, space_name)
