"""Teaches a small network to hear what lips and jaw do, on speech that synthesizers make."""
