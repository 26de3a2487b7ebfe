-- step: The sentence and advice of each edit: those of the first rule of its
--   change whose pattern its texts match. Where arrays became smaller there is
--   nothing to undo, unless they are of a wider type. An unknown number of
--   trips is left out, and so are all but the three largest arrays of those
--   that a loop stacks, by itself or because of the edit. Of what was added,
--   removed or replaced first, the shapes are named that differ beside it.
-- grain: pair, edit
SELECT
  e.*, r.rule_id,
  CASE
    WHEN coalesce(e.delta_bytes, 0) >= 0
      OR e.change = 'retyped' AND r.effect > 0
      THEN coalesce(nullif(r.advice, ''), nullif(k.advice, ''))
  END AS advice,
  replace(replace(replace(replace(replace(replace(
    CASE
      WHEN '?' IN (e.base_text, e.candidate_text)
        THEN regexp_replace(r.sentence, ' of \{\w+\} steps', '')
      ELSE r.sentence
    END,
    '{base}', coalesce(
      CASE WHEN e.change = 'stack' THEN m.stacks END, e.base_text, 'none'
    )),
    '{candidate}', coalesce(
      CASE WHEN e.change = 'stack' THEN m.stacks END, e.candidate_text, 'none'
    )),
    '{subject}', coalesce(e.subject, 'the program')),
    '{operations}', e.operation_count || CASE
      WHEN e.operation_count = 1 THEN ' operation' ELSE ' operations'
    END),
    '{more}', CASE
      WHEN m.more = 0 THEN '' ELSE ' and ' || m.more || ' more ' || m.unit
    END), '→ replicated: replicated', '→ replicated')
    || coalesce(' (' || replace(k.sentence, '{shapes}', m.stacks) || ')', '')
    || coalesce(f.words, '')
    || CASE
      WHEN e.change = 'loop' THEN coalesce(format(
          ' (a loop there returns {} of all its steps)', m.stacks
        ), '')
      ELSE ''
    END AS sentence
FROM edits AS e
LEFT JOIN (
  SELECT
    s.pair, min(o.first_rank) FILTER (
      WHERE o.change IN ('added', 'random', 'removed', 'replaced')
    ) AS first_rank, format(
      ' (and other shapes in the program, as {} → {})', s.base_shape,
      s.candidate_shape
    ) AS words
  FROM followed_shapes AS s
  JOIN edits AS o USING (pair)
  GROUP BY s.pair, s.base_shape, s.candidate_shape
  HAVING count_if(
    o.change IN ('batched', 'loop', 'reshaped', 'stack', 'unbatched')
  ) = 0
) AS f
  ON f.pair = e.pair
  AND e.change IN ('added', 'random', 'removed', 'replaced')
  AND e.first_rank = f.first_rank
CROSS JOIN LATERAL (
  SELECT
    regexp_replace(
      CASE
        WHEN e.change = 'stack' THEN coalesce(e.base_text, e.candidate_text)
        ELSE e.stored_shapes
      END, '^((?:[^ ]+, ){2}[^ ]+), .*$', '\1 and others'
    ) AS stacks,
    e.operation_count - 1 AS more,
    CASE WHEN e.change = 'output' THEN 'output' ELSE 'argument' END
    || CASE WHEN e.operation_count > 2 THEN 's' ELSE '' END AS unit
) AS m
LEFT JOIN LATERAL (
  SELECT c.rule_id, c.advice, c.sentence, c.effect
  FROM cause_rules() AS c
  WHERE c.change = e.change
    AND regexp_matches(
      concat(
        e.subject, ' | ', e.operations, ' |', ' ' || e.base_text, ' >',
        ' ' || e.candidate_text
      ), coalesce(c.pattern, '')
    )
  ORDER BY c.place
  LIMIT 1
) AS r ON TRUE
-- What a loop stacks because of an edit is said beside it.
LEFT JOIN cause_rules() AS k
  ON k.change = 'stored'
  AND (k.effect > 0) = e.has_new_stack
