"""Arguments of the programs that make golden numbers."""

import argparse
import gzip
import subprocess
from pathlib import Path


def arguments_of(description: str) -> argparse.Namespace:
    return parser_of(description).parse_args()


def parser_of(description: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--upstream", type=Path, required=True, help="checkout of the upstream repository")
    parser.add_argument("--out", type=Path, required=True, help="folder for the packs and golden.json")
    parser.add_argument(
        "--networks",
        choices=["small", "reduced"],
        default="small",
        help="this project's stand-ins of a few kilobytes, or upstream's own classes at reduced width",
    )
    return parser


def made_by(given: argparse.Namespace) -> dict:
    """The upstream code and the networks that compute the numbers."""
    return {**repository(given.upstream), "networks": given.networks}


def repository(upstream: Path) -> dict:
    commit = subprocess.run(
        ["git", "-C", str(upstream), "rev-parse", "HEAD"], capture_output=True, text=True, check=False
    ).stdout.strip()
    return {"repository": upstream.resolve().name, "commit": commit or "unknown"}


def finish(given: argparse.Namespace) -> None:
    """Packs of reduced networks are stored compressed."""
    if given.networks == "reduced":
        for folder in given.out.glob("pack*"):
            compress_pack(folder)


def compress_pack(folder: Path) -> None:
    """Every graph and its weights, with the same result on every call."""
    for file in sorted(folder.iterdir()):
        if file.suffix in (".onnx", ".data"):
            Path(f"{file}.gz").write_bytes(gzip.compress(file.read_bytes(), 6, mtime=0))
            file.unlink()
