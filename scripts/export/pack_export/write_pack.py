"""Writes a pack directory, graphs and pack.json, completely or not at all."""

import json
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Sequence

from .export_role import ExportOptions, Role, RoleExporter, add_digests


@dataclass(frozen=True)
class PackLabel:
    """The name of a pack and the origin of its weights."""

    engine: str
    name: str
    version: str
    spdx: str
    source: str


def write_pack(out: Path, label: PackLabel, roles: Sequence[Role], params: dict, options: ExportOptions) -> None:
    """Exports the roles and writes `out`. Refuses to touch an existing directory."""
    out = Path(out).resolve()
    if out.exists():
        raise FileExistsError(f"{out} exists already")
    out.parent.mkdir(parents=True, exist_ok=True)
    staging = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    try:
        exporter = RoleExporter(staging, options)
        entries = {role.name: exporter.export(role) for role in roles}
        manifest = {
            "format": 1,
            "engine": label.engine,
            "name": label.name,
            "version": label.version,
            "license": {"spdx": label.spdx, "source": label.source},
            "providers": [options.provider],
            "roles": {name: add_digests(staging, entry) for name, entry in entries.items()},
            "params": params,
        }
        (staging / "pack.json").write_text(json.dumps(manifest, indent=2) + "\n")
        staging.chmod(0o755)
        staging.rename(out)
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise
    print(f"{out} written: check it with `npm run models -- verify {out}`")
