"""Compresses packs of reduced networks for storage: every graph and its weights, with the same result on every call."""

import gzip
from pathlib import Path


def compress_pack(folder: Path) -> None:
    for file in sorted(folder.iterdir()):
        if file.suffix in (".onnx", ".data"):
            Path(f"{file}.gz").write_bytes(gzip.compress(file.read_bytes(), 6, mtime=0))
            file.unlink()
