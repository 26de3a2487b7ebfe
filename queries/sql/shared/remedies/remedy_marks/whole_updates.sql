-- step: Dimensions in which updates compute state that devices hold whole.
-- grain: module content, dimensions
SELECT
  module_id, dimensions, min(root) AS root, min(partitions) AS partitions
FROM whole_states
WHERE is_larger
GROUP BY module_id, dimensions
