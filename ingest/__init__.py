"""Dumps in, warehouse rows out: discover → recognise → parse → normalise → load."""
