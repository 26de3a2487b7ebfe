"""Read rows of queries as records: runs, pairs, verdicts, differences, soundness."""
