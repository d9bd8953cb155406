"""
Exports the networks of an upstream at their published sizes, without its weights: writes the published files with random
weights (random_release.py), runs the exporter on them in every form that operators use, and checks the graphs. Prints
JSON, and the exporter's own output to the error output. Exit status 1 if a graph is not what it should be.

    python scripts/export/full_size.py highsync --upstream high_sync --out FOLDER [--packs highsync-latents-float16]

FOLDER/packs holds the packs, and FOLDER/files the checkpoints. Half precision is exported for cuda, which needs no GPU;
the float32 packs are for the CPU, where ONNX Runtime repeats one step of every network and is compared with torch.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Dict, List, Tuple

from pack_export.graph_check import facts_of, problems_of
from random_release import write_release

HERE = Path(__file__).resolve().parent
#: The exporters' options by name of the pack; {files} is the folder of the checkpoints.
FORMS: Dict[str, Dict[str, List[str]]] = {
    "musetalk": {"musetalk": []},
    "latentsync": {
        f"latentsync-{form}": ["--vae", "{files}/sd-vae-ft-mse", "--config", f"configs/unet/{config}.yaml", *more]
        for form, config, *more in (("256", "stage2"), ("256-no-deep-cache", "stage2", "--no-deep-cache"), ("512", "stage2_512"))
    },
    "highsync": {f"highsync-{kind}": ["--reference", kind] for kind in ("banks", "latents")},
}
PRECISIONS = {
    "float16": ["--fp16", "--provider", "cuda"],
    "float16-channels-first": ["--fp16", "--provider", "cuda", "--layout", "channels-first"],
    "float32": ["--provider", "cpu"],
}
DEVIATION = re.compile(r"  (\w+): (?:largest deviation \S+, )?(\S+) of (?:its RMS|the elements differ)")
#: Largest deviation of a float32 graph from torch as a share of the outputs' root mean square: that of the probes.
TOLERANCE = 2e-3


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("engine", choices=sorted(FORMS))
    arguments.add_argument("--upstream", type=Path, required=True, help="checkout of the upstream repository")
    arguments.add_argument("--out", type=Path, required=True, help="folder of the packs")
    names = [f"{form}-{precision}" for forms in FORMS.values() for form in forms for precision in PRECISIONS]
    arguments.add_argument("--packs", nargs="+", choices=names, help="these instead of all of the engine's")
    arguments.add_argument("--discard", action="store_true", help="delete every pack when it is checked, and the files")
    given = arguments.parse_args()
    files = given.out / "files" / given.engine
    if not files.exists():
        staging = files.with_name(f".{given.engine}")
        write_release(given.engine, staging)
        staging.rename(files)
    packs = []
    for form, options in FORMS[given.engine].items():
        for precision, where in PRECISIONS.items():
            name = f"{form}-{precision}"
            if given.packs is None or name in given.packs:
                program = [HERE / f"{given.engine}.py", "--upstream", given.upstream, "--weights", files]
                target = given.out / "packs" / name
                more = [option.format(files=files) for option in options]
                named = ["--out", target, "--name", name, "--version", "0.0.0-random"]
                run, roles = exported([*program, *named, *where, *more])
                packs.append({"pack": name, **run, "graphs": graphs_of(target, "--fp16" in where, roles)})
                if given.discard:
                    shutil.rmtree(target)
    if given.discard:
        shutil.rmtree(files)
    print(json.dumps(packs, indent=2))
    wrong = [problem for pack in packs for graph in pack["graphs"].values() for problem in graph["problems"]]
    sys.exit(1 if wrong else 0)


def exported(command: list) -> Tuple[dict, dict]:
    """Runs an exporter; returns its time and memory, and the time and deviations of each role."""
    started = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-u", *map(str, command)], stdout=subprocess.PIPE, stderr=sys.stderr, text=True
    )
    memory = {}
    watch = threading.Thread(target=watch_memory, args=(process, memory))
    watch.start()
    roles, role = {}, None
    for line in process.stdout:
        print(f"{time.monotonic() - started:7.1f} s  {line}", end="", file=sys.stderr, flush=True)
        deviation = DEVIATION.match(line)
        if deviation and role:
            role["deviations"][deviation[1]] = float(deviation[2])
        elif re.fullmatch(r"\w+\n", line):
            role = roles[line.strip()] = {"deviations": {}, "started": time.monotonic()}
    status = process.wait()
    watch.join()
    if status != 0:
        raise SystemExit(f"{Path(command[0]).name} ended with status {status}")
    ends = [*[role["started"] for role in roles.values()][1:], time.monotonic()]
    for role, end in zip(roles.values(), ends):
        role["seconds"] = round(end - role.pop("started"), 1)
    return {"seconds": round(time.monotonic() - started, 1), **memory}, roles


def watch_memory(process: subprocess.Popen, peak: dict) -> None:
    """
    Largest memory of a process on Linux: its own (`peak_mib`), and that with the pages of mapped files, which the system
    takes back when it needs them (`peak_mapped_mib`).
    """
    status = Path(f"/proc/{process.pid}/status")
    while process.poll() is None and status.exists():
        sizes = {line.split(":")[0]: line.split()[1] for line in status.read_text().splitlines() if line.endswith("kB")}
        for key, field in (("peak_mib", "RssAnon"), ("peak_mapped_mib", "VmRSS")):
            peak[key] = max(peak.get(key, 0), int(sizes.get(field, 0)) // 1024)
        time.sleep(0.1)


def graphs_of(pack: Path, half: bool, roles: dict) -> dict:
    """Facts and problems of every graph."""
    graphs = {}
    for name, entry in json.loads((pack / "pack.json").read_text())["roles"].items():
        path = pack / entry["file"]
        problems = problems_of(path, entry, half)
        deviations = roles[name]["deviations"]
        problems += [f"{key} deviates by {value}" for key, value in deviations.items() if not value <= TOLERANCE]
        problems += [] if half or deviations else ["it was not compared with torch: ONNX Runtime is not installed"]
        graphs[name] = {**facts_of(path), **roles[name], "problems": problems}
    return graphs


if __name__ == "__main__":
    main()
