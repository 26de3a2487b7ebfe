-- step: Those that are arrays.
-- grain: value
SELECT * FROM described_values WHERE element_type <> ''
