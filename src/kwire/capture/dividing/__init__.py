"""Division of capture files into parts for parallel tasks."""
