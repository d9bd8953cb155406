"""
Counts what packs need of a GPU: for each network the multiply-accumulates, weights and intermediate tensors, and for the
engine its memory and the frames per second that cards would make, from and to. Calculated, not measured. Prints JSON.

    python scripts/export/gpu_sizing.py PACK [PACK ...]

full_size.py makes packs to count. Needs onnx 1.13 or newer.
"""

import argparse
import json
import math
from pathlib import Path
from typing import Dict, Iterable, NamedTuple, Optional, Tuple

from pack_export.graph_cost import cost_of

#: What cards could do in half precision without sparsity, in 10^12 operations a second.
PEAK = {"T4": 65, "L4": 121, "A10": 125, "A100": 312, "H100": 989}
#: The part of it that a pack makes: as measured on an H200, which small networks keep busy the least, and what large
#: convolutions reach.
SHARES = (0.1, 0.4)
#: Context and libraries of CUDA, and the workspace of convolutions: an assumption.
CUDA_BYTES = 1.5 * 2**30
FRAMES_PER_SECOND = 25
#: Whisper sees thirty seconds at a time.
AUDIO_FRAMES = 30 * FRAMES_PER_SECOND


class Calls(NamedTuple):
    """How an engine runs a network: the sizes of its free dimensions, and the runs for each output frame."""

    sizes: Dict[str, int]
    per_frame: float


def calls_of(
    engine: str, params: dict, roles: Iterable[str], together: bool = False, interval: int = 1
) -> Dict[str, Calls]:
    """
    As packages/engines runs the networks, for frames that are all different and were not prepared. Steps are those of the
    pack, each with and without the condition where it is guided, unless a run computes both (`together`); a run may take
    `interval` of them. That guidance may have an interval of its own is not considered.
    """
    once = Calls({"batch": 1}, 1)
    if engine == "musetalk":
        batch = params["batch"]
        whole = Calls({"batch": batch}, 1 / batch)
        # Two pictures a face: without its lower half, and whole.
        calls = {"vae_encoder": Calls({"batch": batch}, 2 / batch), "unet": whole, "vae_decoder": whole, "face_parsing": whole}
    else:
        steps, moved = params["schedule"]["steps"], params["window"] - params.get("overlap", 0)
        # A distilled network's are listed.
        steps = steps if isinstance(steps, int) else len(steps)
        runs, guided = math.ceil(steps / interval) / moved, 1 if params["guidance"] == 1 or together else 2
        frames = {"frames": params["window"]}
        calls = {
            "vae_encoder": once,
            "vae_decoder": once,
            "unet3d": Calls(frames, guided * runs),
            "denoising_unet": Calls({}, runs),
            "denoising_unet_unconditional": Calls({}, (guided - 1) * runs),
            "reference_unet": Calls({"frames": 1}, 1),
        }
        if engine == "latentsync":
            batch = params.get("batch", 1)
            calls["vae_encoder"], calls["vae_decoder"] = (Calls({"batch": batch}, runs / batch) for runs in (2, 1))
    calls["whisper_encoder"] = Calls({}, 1 / AUDIO_FRAMES)
    return {role: calls[role] for role in roles}


def form_of(unet3d: Optional[dict]) -> Tuple[bool, int]:
    """Whether a run of LatentSync's denoising network computes both conditions, and how many steps it takes."""
    if unet3d is None:
        return False, 1
    if "coefficients" in unet3d["inputs"]:
        return True, unet3d["inputs"]["timestep"]["dims"][0]
    return unet3d["outputs"]["prediction"]["dims"][0] == 2, 1


def sizing(pack: Path) -> dict:
    manifest = json.loads((pack / "pack.json").read_text())
    roles = manifest["roles"]
    calls = calls_of(manifest["engine"], manifest["params"], roles, *form_of(roles.get("unet3d")))
    graphs = {role: cost_of(pack / roles[role]["file"], call.sizes) for role, call in calls.items()}
    per_frame = sum(calls[role].per_frame * cost.multiply_accumulates for role, cost in graphs.items())
    # A session keeps the memory of its largest run, and has its own copy of weights that two graphs share.
    memory = CUDA_BYTES + sum(cost.weight_bytes + cost.live_bytes for cost in graphs.values())
    return {
        "pack": manifest["name"],
        "graphs": {
            role: {"sizes": calls[role].sizes, "runs_per_frame": round(calls[role].per_frame, 4), **vars(cost)}
            for role, cost in graphs.items()
        },
        "operations_per_frame": round(2 * per_frame),
        "memory_gib": round(memory / 2**30, 1),
        "frames_per_second": {
            card: [float(f"{share * peak * 1e12 / (2 * per_frame):.2g}") for share in SHARES] for card, peak in PEAK.items()
        },
    }


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("packs", type=Path, nargs="+", help="folders of packs")
    print(json.dumps([sizing(pack) for pack in arguments.parse_args().packs], indent=2))


if __name__ == "__main__":
    main()
