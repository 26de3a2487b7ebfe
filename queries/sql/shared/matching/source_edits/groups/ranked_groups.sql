-- step: Groups in order of their first operation, at the line of the edit:
--   that of a new or lost conversion, of the call that stacks or draws, or of
--   what is named. Operations of one callee are named by it.
-- grain: pair, file, function
SELECT
  g.* REPLACE (
    CASE change
      WHEN 'retyped' THEN CAST(g.retyped_count AS BIGINT)
      WHEN 'random' THEN d.draw_count
      ELSE g.operation_count
    END AS operation_count,
    coalesce(d.names, g.subject) AS subject,
    -- What else is of another type may go the other way.
    CASE
      WHEN d.delta_bytes * g.delta_bytes <= 0 THEN d.delta_bytes
      ELSE g.delta_bytes
    END AS delta_bytes,
    CASE
      WHEN change = 'random' THEN d.inner_call
      WHEN g.new_line IS NULL AND g.lost_line IS NULL
        THEN coalesce(g.first_call, g.inner_call)
      WHEN g.new_line IS NOT NULL OR g.kept_line IS NULL THEN g.inner_call
    END AS inner_call,
    CASE
      WHEN change = 'stack'
        THEN coalesce(
          g.candidate_stack_call.file_name, g.base_stack_call.file_name,
          g.source_file
        )
      ELSE g.source_file
    END AS source_file,
    CASE
      WHEN change = 'stack'
        THEN coalesce(
          g.candidate_stack_call.function_name,
          g.base_stack_call.function_name, g.function_name
        )
      ELSE g.function_name
    END AS function_name,
    -- A conversion that is new or gone is where the type was edited.
    CASE
      WHEN change = 'retyped' THEN coalesce(g.lost_line, g.base_line)
      WHEN change = 'stack'
        THEN coalesce(g.base_stack_call.line, g.base_line)
      ELSE g.base_line
    END AS base_line,
    CASE
      WHEN change = 'retyped'
        THEN coalesce(
          g.new_line,
          -- What is converted later on meets the first one of another type.
          CASE
            WHEN g.lost_line IS NULL
              AND g.first_call.function_name = g.function_name
              THEN g.first_call.line
          END,
          -- A call further up may be on other lines.
          CASE WHEN g.candidate_line IS NOT NULL THEN g.kept_line END,
          g.candidate_line
        )
      WHEN change = 'stack'
        THEN coalesce(g.candidate_stack_call.line, g.candidate_line)
      WHEN change IN ('added', 'replaced')
        THEN coalesce(g.named_line, g.candidate_line)
      ELSE g.candidate_line
    END AS candidate_line,
    CASE
      WHEN g.candidate_text IS NULL
        THEN coalesce(a.callee || ' (' || g.base_text || ')', g.base_text)
      ELSE g.base_text
    END AS base_text,
    CASE
      WHEN g.base_text IS NULL
        THEN coalesce(
          a.callee || ' (' || g.candidate_text || ')', g.candidate_text
        )
      ELSE g.candidate_text
    END AS candidate_text
  ),
  row_number() OVER (
    PARTITION BY g.pair
    ORDER BY
      g.change = 'retyped'
      AND (
        g.lost_line IS NOT NULL
        OR g.first_lost_place IS NOT NULL
        OR g.base_line IS NULL AND g.new_line IS NOT NULL
      ) DESC,
      CASE
        WHEN g.change = 'retyped'
          THEN coalesce(g.first_lost_place, g.first_place)
        ELSE g.first_place
      END, g.source_file, g.function_name
  ) AS rank
FROM group_changes AS g
LEFT JOIN random_draws AS d
  ON d.pair = g.pair
  AND d.source_file = g.source_file
  AND d.function_name = g.function_name
  AND g.change = 'random'
LEFT JOIN group_callees AS a
  ON a.pair = g.pair
  AND a.source_file = g.source_file
  AND a.function_name = g.function_name
  AND g.change IN ('added', 'removed', 'replaced')
  AND a.is_candidate = (g.base_text IS NULL)
  AND a.line = CASE
    WHEN a.is_candidate THEN coalesce(g.named_line, g.candidate_line)
    ELSE g.base_line
  END
