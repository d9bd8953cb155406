"""
Golden numbers for what the engines do to pixels around their networks: where upstream's own functions cut a face out
of a frame, what the cut looks like, and how a generated face is masked and pasted back. Detectors are replaced by
landmarks and boxes that are given.

    python scripts/export/golden_pixels.py musetalk --upstream MuseTalk --out packages/engines/test-data/golden/pixels
"""

import argparse
import sys
from pathlib import Path

from golden import highsync_pixels, latentsync_pixels, musetalk_pixels
from golden.arguments import repository
from golden.pixel_record import write_pixels
from pack_export.command_line import use_upstream

RECORD = {
    "musetalk": lambda _: musetalk_pixels.record(),
    "latentsync": latentsync_pixels.record,
    "highsync": highsync_pixels.record,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("engine", choices=RECORD)
    parser.add_argument("--upstream", type=Path, required=True, help="checkout of the engine's upstream repository")
    parser.add_argument("--out", type=Path, required=True, help="folder for ENGINE.json")
    given = parser.parse_args()
    upstream = use_upstream(given.upstream)
    recorded = {"madeBy": repository(upstream), **RECORD[given.engine](upstream)}
    write_pixels(given.out / f"{given.engine}.json", recorded)


if __name__ == "__main__":
    sys.exit(main())
