"""Compiled loop of the proxy, built from pyx/proxy, on Linux only."""
