-- step: Values of the selected programs, described as remedies need them.
-- grain: value
SELECT * FROM remedy_values()
