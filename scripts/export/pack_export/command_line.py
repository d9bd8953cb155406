"""Arguments that every exporter takes."""

import argparse
import sys
from pathlib import Path

from .checkpoint_manifest import PUBLISHED
from .export_role import ExportOptions
from .write_pack import PackLabel


def parser(description: str) -> argparse.ArgumentParser:
    arguments = argparse.ArgumentParser(description=description)
    arguments.add_argument("--upstream", type=Path, required=True, help="checkout of the upstream repository")
    arguments.add_argument("--weights", type=Path, required=True, help="folder that the upstream repository reads its weights from")
    arguments.add_argument("--out", type=Path, required=True, help="pack directory to write; must not exist")
    arguments.add_argument("--manifests", type=Path, default=PUBLISHED, help="folder of what checkpoints must hold")
    arguments.add_argument("--name", help="name of the pack in pack.json")
    arguments.add_argument("--version", default="1.0.0", help="version of the pack in pack.json")
    arguments.add_argument("--license", help="SPDX expression of the weights' licenses, where you know better")
    # The name until 2.0.
    arguments.add_argument("--licence", dest="license", help=argparse.SUPPRESS)
    arguments.add_argument("--fp16", action="store_true", help="half precision inside the graphs")
    arguments.add_argument("--provider", choices=["cuda", "webgpu", "cpu"], default="cpu", help="where the pack will run")
    arguments.add_argument(
        "--layout",
        choices=["channels-first", "channels-last"],
        help="where tensors of pictures have their channels; default: last with --fp16 --provider cuda, which it needs, else first",
    )
    arguments.add_argument("--plain-attention", action="store_true", help="leave attention in single steps")
    arguments.add_argument("--device", default="cpu", help="where torch runs while it exports")
    return arguments


def options_of(arguments: argparse.Namespace) -> ExportOptions:
    possible = arguments.fp16 and arguments.provider == "cuda"
    if arguments.layout == "channels-last" and not possible:
        raise SystemExit("--layout channels-last needs --fp16 --provider cuda: no other provider has its operators")
    return ExportOptions(
        precision="float16" if arguments.fp16 else "float32",
        provider=arguments.provider,
        device=arguments.device,
        # It is unknown whether the other providers have the fused operators.
        fuse=arguments.provider in ("cuda", "cpu") and not arguments.plain_attention,
        layout=arguments.layout or ("channels-last" if possible else "channels-first"),
    )


def label_of(arguments: argparse.Namespace, engine: str, name: str, spdx: str, source: str) -> PackLabel:
    """Name and license are those of the arguments, if they have any."""
    return PackLabel(engine, arguments.name or name, arguments.version, arguments.license or spdx, source)


def use_upstream(folder: Path) -> Path:
    """Makes the upstream repository's modules importable."""
    folder = folder.resolve()
    if not folder.is_dir():
        raise SystemExit(f"{folder} is not a directory")
    # The programs here have the names of upstream's packages, which can be imported only while no module has their
    # name.
    programs = Path(__file__).resolve().parent.parent
    sys.path[:] = [str(folder), *(entry for entry in sys.path if Path(entry).resolve() != programs)]
    return folder
