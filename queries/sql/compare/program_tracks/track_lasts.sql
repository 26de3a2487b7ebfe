-- step: The last sighting of each track.
-- grain: track
SELECT s.track, max(s.run_place) AS run_place
FROM sightings AS s
GROUP BY s.track
