"""Client of the lip-sync rendering service."""
