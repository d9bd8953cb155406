"""Where the golden numbers and their packs are stored."""

from pathlib import Path

KEPT = Path(__file__).resolve().parents[3] / "packages/engines/test-data/golden"
