-- step: The clones.
-- grain: instruction
SELECT * FROM named_instructions WHERE is_clone
