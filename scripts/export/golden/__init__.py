"""Golden numbers: what the upstream repositories compute with small networks, for the service's parity tests."""
