"""Families of programmatic tasks: workflows with loops, branches, joins and aggregation, for any schema."""
