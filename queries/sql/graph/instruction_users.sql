-- title: Users of an instruction
-- question: Which instructions depend on a result, up to a number of edges?
-- definition: Follows graph_edges from producer to consumer, through operands
--   and called computations. Each instruction is listed once, at its least
--   distance.
-- grain: module occurrence, instruction
-- leading: program, distance, name, opcode, edge, shape, op_name
-- param run
-- param program
-- param instruction VARCHAR = NULL: Name of the instruction to start from;
--   NULL for the first parameter of the entry computation.
-- param depth BIGINT = 1 from 0: Largest number of edges to follow.
-- param top
-- column run
-- column program
-- column module_number
-- column rank
-- column start_instruction VARCHAR name neutral: Instruction at which the walk
--   starts.
-- column distance BIGINT count neutral: Fewest edges from there.
-- column name VARCHAR name neutral: The instruction reached.
-- column opcode
-- column shape
-- column edge VARCHAR name neutral: Kind of the last edge: operand, call or
--   argument.
-- column through VARCHAR name neutral: The previous instruction on the path.
-- column computation VARCHAR name neutral: Its computation.
-- column op_name
SELECT
  m.run, m.program, m.module_number, m.rank, w.start_instruction, w.distance,
  w.name, w.opcode, w.shape, w.edge, w.through, w.computation, w.op_name
FROM final_modules() AS m
JOIN graph_walk(forward := TRUE) AS w USING (module_id)
ORDER BY
  m.program, m.module_number, m.rank, w.start_id, w.distance, w.instruction_id
LIMIT $top
