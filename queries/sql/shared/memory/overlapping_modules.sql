-- title: Modules in which live values overlap
-- question: In which modules may two values use a byte for longer than the
--   step at which one ends and the other begins?
-- definition: Modules of the selected run and program with a conditional,
--   whose branches may reuse the bytes of values that it reads
--   (check_overlaps), or with an assignment that contradicts itself
--   (overlap_conflicts).
-- grain: module content
-- param run
-- param program
-- column module_id
SELECT m.module_id
FROM selected_contents() AS m
JOIN store.instructions AS i USING (module_id)
JOIN store.instruction_forms AS f USING (form_id)
WHERE f.opcode = 'conditional'
UNION
SELECT m.module_id
FROM selected_contents() AS m
JOIN memory_profile AS p USING (module_id)
WHERE coalesce(p.conflict_count, 1) > 0
