"""What an assignment means for memory: profiles, liveness, branches."""
