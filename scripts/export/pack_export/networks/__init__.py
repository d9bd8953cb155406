"""The networks of the three engines, wrapped so that each takes and returns plain tensors."""
