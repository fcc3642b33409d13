"""Where the compiled twin lands; its source is in pyx/."""
