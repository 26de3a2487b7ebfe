-- step: What is claimed of every edit in every memory space. Its bytes are
--   known where the difference is split, or where nothing else differs. An
--   edit is proven by bytes that follow from it, at least one in a hundred of
--   the difference, or by being the only thing that differs. It is likely
--   where its rule says that it moves memory this way, or may. Otherwise it
--   counts against the difference. What is less than that is unexplained.
-- grain: pair, memory space, edit
WITH weighed AS (
  SELECT
    e.*, d.space_color, d.total_delta, d.direction,
    s.pair IS NOT NULL AS is_split, h.changed_count,
    NOT (
      e.edit_count > 1 OR p.has_other_inputs OR p.has_other_environment
    ) AS is_alone,
    CASE
      WHEN s.pair IS NOT NULL THEN coalesce(h.share_bytes, 0)
      WHEN is_alone THEN d.total_delta
    END AS own_bytes,
    coalesce(own_bytes, 0) <> 0
    AND abs(own_bytes) >= 0.01 * abs(d.total_delta) AS has_share
  FROM edits AS e
  JOIN compiled_pairs AS p USING (pair)
  JOIN space_differences AS d USING (pair)
  LEFT JOIN split_pairs AS s USING (pair)
  LEFT JOIN shares AS h
    ON h.pair = e.pair
    AND h.space_color = d.space_color
    AND h.edit_place = e.place
)
SELECT
  w.* EXCLUDE (own_bytes) REPLACE (
    CASE WHEN w.has_share THEN w.changed_count END AS changed_count
  ),
  CASE
    WHEN w.has_share OR w.is_alone AND NOT w.is_split THEN w.own_bytes
    WHEN w.is_split THEN 0
  END AS share_bytes,
  CASE
    WHEN w.direction = 0 THEN FALSE
    WHEN w.has_share THEN w.own_bytes * w.direction < 0
    ELSE w.effect * w.direction < 0
  END AS is_against,
  CASE
    WHEN w.has_share OR w.is_alone AND NOT is_against THEN 'proven'
    WHEN NOT coalesce(w.is_often_wrong, FALSE) THEN 'likely'
  END AS standing
FROM weighed AS w
