"""Parts of capture files for tasks that read at the same time."""
