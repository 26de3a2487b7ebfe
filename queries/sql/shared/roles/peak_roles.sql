-- title: Role of every value at the peak
-- question: Which role has each value at the live peak, and by which rule?
-- definition: Values of peak_values that own bytes, with the role of the first
--   matching rule in role_rules; unclassified if none matches. A parameter,
--   what is written into it, and the result that takes its place have the role
--   of the parameter, and so do temporary copies and slices of it
--   (copied_parameters, array_origins). Other values in the memory of a
--   donated parameter or of a result, which they use before it is written, are
--   temporary values. In a program with a backward pass that donates nothing,
--   a parameter counts as donated if it alone has the shape of a result and is
--   read by what makes that: so do weights whose arguments have no names. A
--   parameter named v next to one named k (cache['v'] and cache['k']) is not
--   the optimiser's v: it has the role of the k; nor is one named m or v that
--   the forward pass reads. For parameters, made_in is the phase of the first
--   reader if PyTorch names it, but unknown in a program that reads no array
--   forward, such as an optimiser on its own, which reads weights and state
--   alike; last_read_in is optimiser if only the optimiser reads it
--   (parameter_readers). owned_bytes of a module and memory space add up to
--   live_peak_bytes.
-- grain: module content, memory space, allocation, value
-- param run
-- param program
-- param module_ids
-- param every_run
-- column module_id
-- column color
-- column allocation_id
-- column value_id
-- column instruction_id
-- column owned_bytes BIGINT bytes neutral: Bytes of the peak that it owns.
-- column role VARCHAR name neutral: Role of the value; unclassified if no rule
--   applies.
-- column rule_id VARCHAR name neutral: Rule that decided the role, with the
--   prefix copy_of_ for a copy of a parameter; NULL if none did.
WITH named AS MATERIALIZED (
  SELECT
    i.module_id, i.instruction_id, i.computation_id, i.opcode, i.op_name,
    i.parameter_number
  FROM selected_instructions() AS i
),
entries AS MATERIALIZED (
  SELECT DISTINCT module_id, entry_computation_id AS computation_id
  FROM store.snapshots
),
origins AS MATERIALIZED (
  SELECT
    o.module_id, o.instruction_id, o.element, o.origin_id, o.is_whole, o.kind,
    CASE WHEN o.kind = 'parameter' THEN i.parameter_number END
      AS parameter_number
  FROM array_origins() AS o
  LEFT JOIN (
    SELECT n.module_id, n.instruction_id, n.parameter_number
    FROM named AS n
    JOIN entries USING (module_id, computation_id)
  ) AS i
    ON i.module_id = o.module_id
    AND i.instruction_id = o.origin_id
),
results AS MATERIALIZED (
  SELECT DISTINCT
    r.module_id, r.value_id, v.instruction_id,
    regexp_replace(v.shape, '\{.*$', '') AS shape
  FROM result_places() AS r
  JOIN store."values" AS v USING (module_id, value_id)
),
backwards AS MATERIALIZED (
  SELECT DISTINCT h.module_id
  FROM instruction_phases() AS h
  WHERE h.phase = 'backward'
),
-- In programs that donate nothing, the one parameter of a result's shape that
-- is read by what makes the result.
updated AS MATERIALIZED (
  SELECT r.module_id, min(n.parameter_number) AS parameter_number
  FROM (
    SELECT module_id, value_id, instruction_id, shape FROM results
    UNION
    SELECT r.module_id, r.value_id, o.origin_id, r.shape
    FROM results AS r
    JOIN origins AS o USING (module_id, instruction_id)
    WHERE o.kind = 'computed'
  ) AS r
  JOIN operands AS p
    ON p.module_id = r.module_id
    AND p.instruction_id = r.instruction_id
  JOIN (
    SELECT module_id, instruction_id, parameter_number
    FROM named
    JOIN entries USING (module_id, computation_id)
    WHERE opcode = 'parameter'
    UNION
    SELECT module_id, instruction_id, parameter_number
    FROM copied_parameters()
  ) AS n
    ON n.module_id = p.module_id
    AND n.instruction_id = p.operand_id
  JOIN allocations AS a
    ON a.module_id = n.module_id
    AND a.parameter_number = n.parameter_number
    AND regexp_replace(a.shape, '\{.*$', '') = r.shape
  SEMI JOIN backwards AS b
    ON b.module_id = r.module_id
  ANTI JOIN (
    SELECT d.module_id
    FROM allocations AS d
    WHERE d.kind = 'parameter'
      AND d.is_live_out
  ) AS d
    ON d.module_id = r.module_id
  GROUP BY r.module_id, r.value_id
  HAVING count(DISTINCT n.parameter_number) = 1
),
parameters AS (
  SELECT
    a.module_id, a.allocation_id, any_value(a.parameter_number) AS number,
    bool_or(coalesce(a.is_live_out, FALSE) OR u.module_id IS NOT NULL)
      AS is_donated,
    bool_or(a.shape NOT LIKE '%[]%') AS is_array,
    max(lower(i.op_name)) AS op_name, max(h.phase) AS made_in,
    bool_or(coalesce(s.is_state, FALSE)) AS is_state,
    bool_or(coalesce(s.is_read_forward, FALSE)) AS is_read_forward
  FROM selected_contents() AS c
  JOIN allocations AS a USING (module_id)
  JOIN entries AS m USING (module_id)
  LEFT JOIN updated AS u
    ON u.module_id = a.module_id
    AND u.parameter_number = a.parameter_number
  LEFT JOIN named AS i
    ON i.module_id = a.module_id
    AND i.computation_id = m.computation_id
    AND i.opcode = 'parameter'
    AND i.parameter_number = a.parameter_number
  LEFT JOIN parameter_readers() AS s
    ON s.module_id = a.module_id
    AND s.parameter_number = a.parameter_number
  LEFT JOIN instruction_phases() AS h
    ON h.module_id = i.module_id
    AND h.instruction_id = i.instruction_id
  WHERE a.kind = 'parameter'
  GROUP BY a.module_id, a.allocation_id
),
called AS (
  SELECT
    p.module_id, p.allocation_id,
    CASE
      WHEN k.op_name IS NOT NULL THEN k.op_name
      WHEN p.is_read_forward
        THEN regexp_replace(
          p.op_name, '(^|[^a-z])[mv]([^a-z]|$)', '\1_\2', 'g'
        )
      ELSE p.op_name
    END AS op_name
  FROM parameters AS p
  LEFT JOIN (SELECT DISTINCT module_id, op_name FROM parameters) AS k
    ON k.module_id = p.module_id
    AND k.op_name <> p.op_name
    AND k.op_name = regexp_replace(
      p.op_name, '^(.*[^a-z]|)v([^a-z].*)?$', '\1k\2'
    )
),
copies AS MATERIALIZED (
  SELECT m.module_id, m.instruction_id, NULL AS element, m.parameter_number
  FROM copied_parameters() AS m
  UNION
  SELECT
    o.module_id, o.instruction_id, o.element, max(o.parameter_number)
  FROM origins AS o
  GROUP BY o.module_id, o.instruction_id, o.element
  HAVING bool_and(o.parameter_number IS NOT NULL)
    AND count(DISTINCT o.origin_id) = 1
),
-- Of a parameter that is a tuple no instruction copies the whole.
copied AS (
  SELECT
    m.module_id, m.instruction_id, m.element,
    max(p.allocation_id) AS allocation_id
  FROM copies AS m
  JOIN parameters AS p
    ON p.module_id = m.module_id
    AND p.number = m.parameter_number
  GROUP BY m.module_id, m.instruction_id, m.element
  HAVING count(*) = 1
),
placed AS MATERIALIZED (
  SELECT
    v.module_id, v.color, v.allocation_id, v.value_id, v.instruction_id,
    v.owned_bytes, v.kind,
    coalesce(
      TRY_CAST(regexp_extract(v.shape_index, '^\{([0-9]+)', 1) AS INTEGER), -1
    ) AS element
  FROM (
    SELECT p.*, n.shape_index
    FROM peak_values() AS p
    LEFT JOIN store."values" AS n USING (module_id, value_id)
    WHERE p.owned_bytes > 0
  ) AS v
),
-- Values in the memory of a parameter or result that are no part of it. In a
-- loop, the array of a result is made step by step.
guests AS MATERIALIZED (
  SELECT v.module_id, v.value_id
  FROM placed AS v
  JOIN named AS i USING (module_id, instruction_id)
  JOIN entries AS e USING (module_id, computation_id)
  JOIN allocations AS a
    ON a.module_id = v.module_id
    AND a.allocation_id = v.allocation_id
  ANTI JOIN results AS r
    ON r.module_id = v.module_id
    AND r.value_id = v.value_id
  ANTI JOIN origins AS o
    ON o.module_id = v.module_id
    AND o.instruction_id = v.instruction_id
    AND o.element = v.element
    AND o.is_whole
    AND o.parameter_number = a.parameter_number
  WHERE v.kind IN ('parameter', 'live_out')
    AND i.opcode <> 'parameter'
    AND v.module_id IN (SELECT q.module_id FROM results AS q)
),
peak AS (
  SELECT
    v.module_id, v.color, v.allocation_id, v.value_id, v.instruction_id,
    v.owned_bytes,
    CASE
      WHEN c.allocation_id IS NOT NULL THEN 'parameter'
      WHEN w.value_id IS NOT NULL THEN 'temp'
      ELSE v.kind
    END AS kind,
    coalesce(c.allocation_id, v.allocation_id) AS home_id,
    c.allocation_id IS NOT NULL AS is_copy
  FROM placed AS v
  LEFT JOIN guests AS w
    ON w.module_id = v.module_id
    AND w.value_id = v.value_id
  LEFT JOIN (
    SELECT module_id, instruction_id, element, max(allocation_id)
      AS allocation_id
    FROM (
      SELECT * FROM copied WHERE element IS NOT NULL
      UNION ALL
      SELECT c.module_id, c.instruction_id, p.element, c.allocation_id
      FROM copied AS c
      JOIN (
        SELECT DISTINCT module_id, instruction_id, element FROM placed
      ) AS p
        USING (module_id, instruction_id)
      WHERE c.element IS NULL
    )
    GROUP BY module_id, instruction_id, element
  ) AS c
    ON c.module_id = v.module_id
    AND c.instruction_id = v.instruction_id
    AND c.element = v.element
    AND (v.kind = 'temp' OR w.value_id IS NOT NULL)
),
described AS (
  SELECT
    v.module_id, v.color AS space_color, v.allocation_id, v.value_id, v.kind,
    v.instruction_id, v.owned_bytes, v.is_copy, i.opcode,
    CASE WHEN v.kind = 'parameter' THEN n.op_name ELSE lower(i.op_name) END
      AS op_name,
    coalesce(p.is_donated, FALSE) AS is_donated,
    CASE
      WHEN v.kind <> 'parameter' THEN coalesce(h.origin_phase, h.made_in)
      WHEN v.module_id IN (
        SELECT module_id FROM parameters WHERE is_array AND made_in = 'other'
      )
        THEN p.made_in
    END AS made_in,
    CASE
      WHEN v.kind <> 'parameter' THEN h.last_read_in
      WHEN p.is_state THEN 'optimiser'
    END AS last_read_in,
    g.value_id IS NOT NULL AS is_gathered
  FROM peak AS v
  LEFT JOIN parameters AS p
    ON p.module_id = v.module_id
    AND p.allocation_id = v.home_id
  LEFT JOIN called AS n
    ON n.module_id = v.module_id
    AND n.allocation_id = v.home_id
  LEFT JOIN named AS i
    ON i.module_id = v.module_id
    AND i.instruction_id = v.instruction_id
  LEFT JOIN value_phases() AS h
    ON h.module_id = v.module_id
    AND h.value_id = v.value_id
  LEFT JOIN gathered_values() AS g
    ON g.module_id = v.module_id
    AND g.value_id = v.value_id
),
ruled AS (
  SELECT d.*, r.place, r.rule_id, r.role
  FROM described AS d
  LEFT JOIN role_rules() AS r
    ON (r.kind IS NULL OR r.kind = d.kind)
    AND (r.is_donated IS NULL OR r.is_donated = d.is_donated)
    AND (r.is_gathered IS NULL OR r.is_gathered = d.is_gathered)
    AND (r.made_in IS NULL OR r.made_in = d.made_in)
    AND (r.last_read_in IS NULL OR r.last_read_in = d.last_read_in)
    AND (
      r.name_pattern IS NULL
      OR regexp_matches(coalesce(d.op_name, ''), r.name_pattern)
    )
    AND (
      r.opcode_pattern IS NULL
      OR regexp_matches(coalesce(d.opcode, ''), r.opcode_pattern)
    )
)
SELECT
  r.module_id, r.space_color AS color, r.allocation_id, r.value_id,
  r.instruction_id, r.owned_bytes,
  coalesce(arg_min(r.role, r.place), 'unclassified') AS role,
  CASE WHEN r.is_copy THEN 'copy_of_' ELSE '' END
    || arg_min(r.rule_id, r.place) AS rule_id
FROM ruled AS r
GROUP BY
  r.module_id, r.space_color, r.allocation_id, r.value_id, r.instruction_id,
  r.owned_bytes, r.is_copy
