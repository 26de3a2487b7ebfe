"""What commands say and show beside their results, and the streams they write."""
