"""Captures that come with kwire."""
