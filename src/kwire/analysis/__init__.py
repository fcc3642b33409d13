"""From rows to answers: pure functions, Arrow in, Arrow out."""
