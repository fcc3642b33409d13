"""Runs over captures: plans, tasks, their files, and the output folder, on local processes or other workers."""
