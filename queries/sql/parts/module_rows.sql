-- title: What the tables hold of each module
-- question: How many rows of a module has each table, and which instructions
--   and computations do they name?
-- definition: Of each table of module contents: rows for each module, and the
--   least and the greatest number of an instruction and of a computation in
--   them, NULL in tables that name none. Several checks ask for some of it.
--   The figures are one struct until the end, so that all of them are computed
--   wherever one is asked for: only what is the same in several places of a
--   statement is computed but once by DuckDB.
-- grain: table, module content
-- needs: computations, instructions, operands, called_computations, aliases,
--   allocations, values, allocation_values, value_positions, value_uses,
--   schedule, live_ranges, printed_peaks, memory_profile, memory_timeline,
--   memory_reports, memory_report_allocations, memory_report_values
-- column table_name VARCHAR name neutral: The table.
-- column module_id
-- column row_count BIGINT count neutral: Its rows of this module.
-- column unnamed_count BIGINT count neutral: Values without an instruction,
--   instructions without a computation; NULL in other tables.
-- column least_instruction_id INTEGER id neutral: Least of all numbers of
--   instructions in these rows.
-- column greatest_instruction_id INTEGER id neutral: Greatest of them.
-- column least_computation_id INTEGER id neutral: Least of all numbers of
--   computations in these rows.
-- column greatest_computation_id INTEGER id neutral: Greatest of them.
WITH counted AS (
  SELECT 'computations' AS table_name, module_id, {
    'row_count': count(*),
    'least_instruction_id': min(root_instruction_id),
    'greatest_instruction_id': max(root_instruction_id),
    'least_computation_id': min(computation_id),
    'greatest_computation_id': max(computation_id)
  } AS figures
  FROM computations
  GROUP BY module_id
  UNION ALL
  SELECT 'instructions', module_id, {
    'row_count': count(*),
    'unnamed_count': count(*) - count(computation_id),
    'least_instruction_id': min(instruction_id),
    'greatest_instruction_id': max(instruction_id),
    'least_computation_id': min(computation_id),
    'greatest_computation_id': max(computation_id)
  }
  FROM store.instructions
  GROUP BY module_id
  UNION ALL
  SELECT 'operands', module_id, {
    'row_count': count(*),
    'least_instruction_id':
      least(min(instruction_id), min(operand_id)),
    'greatest_instruction_id':
      greatest(max(instruction_id), max(operand_id))
  }
  FROM operands
  GROUP BY module_id
  UNION ALL
  SELECT 'called_computations', module_id, {
    'row_count': count(*),
    'least_instruction_id': min(instruction_id),
    'greatest_instruction_id': max(instruction_id),
    'least_computation_id': min(computation_id),
    'greatest_computation_id': max(computation_id)
  }
  FROM called_computations
  GROUP BY module_id
  UNION ALL
  SELECT 'aliases', module_id, {'row_count': count(*)}
  FROM aliases
  GROUP BY module_id
  UNION ALL
  SELECT 'allocations', module_id, {'row_count': count(*)}
  FROM allocations
  GROUP BY module_id
  UNION ALL
  SELECT 'values', module_id, {
    'row_count': count(*),
    'unnamed_count': count(*) - count(instruction_id),
    'least_instruction_id': min(instruction_id),
    'greatest_instruction_id': max(instruction_id)
  }
  FROM store."values"
  GROUP BY module_id
  UNION ALL
  SELECT 'allocation_values', module_id, {'row_count': count(*)}
  FROM allocation_values
  GROUP BY module_id
  UNION ALL
  SELECT 'value_positions', module_id, {
    'row_count': count(*),
    'least_instruction_id': min(instruction_id),
    'greatest_instruction_id': max(instruction_id)
  }
  FROM store.value_positions
  GROUP BY module_id
  UNION ALL
  SELECT 'value_uses', module_id, {
    'row_count': count(*),
    'least_instruction_id': min(instruction_id),
    'greatest_instruction_id': max(instruction_id)
  }
  FROM store.value_uses
  GROUP BY module_id
  UNION ALL
  SELECT 'schedule', module_id, {
    'row_count': count(*),
    'least_instruction_id': min(instruction_id),
    'greatest_instruction_id': max(instruction_id)
  }
  FROM store.schedule
  GROUP BY module_id
  UNION ALL
  SELECT 'live_ranges', module_id, {
    'row_count': count(*),
    'least_instruction_id': min(instruction_id),
    'greatest_instruction_id': max(instruction_id)
  }
  FROM store.live_ranges
  GROUP BY module_id
  UNION ALL
  SELECT 'printed_peaks', module_id, {'row_count': count(*)}
  FROM printed_peaks
  GROUP BY module_id
  UNION ALL
  SELECT 'memory_profile', module_id, {'row_count': count(*)}
  FROM memory_profile
  GROUP BY module_id
  UNION ALL
  SELECT 'memory_timeline', module_id, {'row_count': count(*)}
  FROM memory_timeline
  GROUP BY module_id
  UNION ALL
  SELECT 'memory_reports', module_id, {'row_count': count(*)}
  FROM memory_reports
  GROUP BY module_id
  UNION ALL
  SELECT 'memory_report_allocations', module_id, {'row_count': count(*)}
  FROM memory_report_allocations
  GROUP BY module_id
  UNION ALL
  SELECT 'memory_report_values', module_id, {'row_count': count(*)}
  FROM memory_report_values
  GROUP BY module_id
)
SELECT
  t.table_name, t.module_id, t.figures.row_count, t.figures.unnamed_count,
  t.figures.least_instruction_id, t.figures.greatest_instruction_id,
  t.figures.least_computation_id, t.figures.greatest_computation_id
FROM counted AS t
