"""What a proxy may do to frames, a small file for each rule."""
