"""Where the golden numbers and their packs are stored."""

from pathlib import Path

KEPT = Path(__file__).resolve().parents[3] / "services/gpu-worker/test-data/golden"
