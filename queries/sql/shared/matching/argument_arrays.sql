-- title: Arrays that a program is given
-- question: Which arrays are the arguments of an entry layout, whatever their
--   order?
-- definition: Element types and dimensions of the arguments, sorted, so that
--   a program whose arguments were reordered, as by renamed modules, has the
--   same.
-- grain: entry layout (one row)
-- param shapes VARCHAR = NULL: Entry layout without layouts.
-- column arrays VARCHAR text neutral: Such as f32[8,16] s32[]; NULL where the
--   layout is not known.
SELECT
  array_to_string(list_sort(regexp_extract_all(
    split_part($shapes, '->', 1), '\w+\[[^\]]*\]'
  )), ' ') AS arrays
