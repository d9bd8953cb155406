"""
Trains the network by which the built-in packs hear what lips and jaw do, and writes its weights, its card and the
speech that a test checks the graph with. Needs the system packages named in the README beside it.

    python3 scripts/export/train_hearing.py
"""

import argparse
import copy
import json
import pickle
import random
import time
from multiprocessing import Pool
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F

from articulation.analytic import analytic_cues
from articulation.card import card
from articulation.corpus import HELD_OUT, utterance
from articulation.evaluation import figures
from articulation.finishing import finished, ramps_for
from articulation.fixture import write_fixture
from articulation.network import Hearing, folded, outputs_of, write_safetensors
from articulation.spectrogram import BANDS
from articulation.trajectories import CLOSURE, DENTAL, JAW, STEPS_PER_SECOND
from pack_export.checkpoint_loading import load_checkpoint

ROOT = Path(__file__).resolve().parents[2]
WEIGHTS = ROOT / "packages/builtin-packs/weights"
BATCH, STEPS_PER_EXAMPLE = 32, 200


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--utterances", type=int, default=8800, help="of about four seconds")
    parser.add_argument("--steps", type=int, nargs="+", default=[9000, 4000], help="of the optimizer, round by round")
    parser.add_argument("--workers", type=int, default=2, help="processes that make speech")
    parser.add_argument("--folder", type=Path, default=ROOT / ".local/articulation", help="keeps speech and network")
    parser.add_argument("--evaluate", action="store_true", help="use the network that an earlier call trained")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)

    kept = given.folder / "network.pt"
    torch.manual_seed(given.seed)
    network = Hearing()
    speech = made(given, "training", given.utterances)
    if given.evaluate:
        network.load_state_dict(load_checkpoint(kept))
    else:
        for turn, steps in enumerate(given.steps):
            network = trained(network, speech, steps, turn, given.seed, kept)
    tensors = folded(network)
    hearing = lambda mel: outputs_of(tensors, mel)
    validation = made(given, "validation", 120, condition="clean") + made(given, "validation-degraded", 120)
    ramps = ramps_for(validation, hearing, 0.5)
    formulas = ramps_for(validation, analytic_cues, 0.2)
    heard = lambda mel: finished(hearing(mel), ramps)
    by_formulas = lambda mel: finished(analytic_cues(mel), formulas)
    compared = lambda unheard: {"network": figures(unheard, heard), "formulas": figures(unheard, by_formulas)}
    results = {}
    for held_out in HELD_OUT:
        for condition in ("clean", "any"):
            unheard = made(given, f"{held_out}-{condition}", 120, held_out=held_out, condition=condition)
            results[held_out, condition] = compared(unheard)
    hard = {"whisper": compared(made(given, "whisper", 40, held_out="whisper", condition="clean"))}
    for condition in ("room", "telephone", "noise", "music", "clipping"):
        unheard = [
            one
            for held_out in HELD_OUT
            for one in made(given, f"{held_out}-{condition}", 20, held_out=held_out, condition=condition)
        ]
        hard[condition] = compared(unheard)

    nobody = made(given, "nobody", 120, held_out="nothing", condition="clean")
    restless = np.mean(np.concatenate([heard(one.mel)[:, JAW] for one in nobody]) > 0.1)

    WEIGHTS.mkdir(exist_ok=True)
    metadata = {"ramps": json.dumps(ramps), "seed": str(given.seed)}
    write_safetensors(WEIGHTS / "hearing.safetensors", tensors, metadata)
    text = card(given.seed, minutes(speech), sum(given.steps), results, hard, restless)
    (WEIGHTS / "README.md").write_text(text)
    write_fixture(ROOT / "packages/builtin-packs/test-data/hearing", heard)


def made(given: argparse.Namespace, name: str, count: int, **options) -> list:
    """Labelled utterances, kept in a file."""
    path = given.folder / f"{name}.pickle"
    if path.exists():
        return pickle.loads(path.read_bytes())
    with Pool(given.workers) as pool:
        seeds = [f"{given.seed} {name} {i}" for i in range(count)]
        speech = pool.starmap(speak, [(seed, options) for seed in seeds], chunksize=20)
    path.write_bytes(pickle.dumps(speech))
    print(f"{name}: {minutes(speech):.0f} minutes", flush=True)
    return speech


def minutes(speech: list) -> float:
    return sum(len(one.cues) for one in speech) / STEPS_PER_SECOND / 60


def speak(seed: str, options: dict):
    return utterance(seed, **options)


def trained(network: Hearing, speech: list, steps: int, turn: int, seed: int, path: Path) -> Hearing:
    """A further round: the average of the weights along the way. It is kept now and then under `path`."""
    r, start = random.Random(seed + turn), time.time()
    average = copy.deepcopy(network)
    optimizer = torch.optim.AdamW(network.parameters(), weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4e-3 / (1 + turn), steps)
    for step in range(1, steps + 1):
        network.train()
        loss = loss_of(network, *batch(speech, r))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        follow(average, network, min(0.998, step / (step + 50)))
        if step % 250 == 0 or step == steps:
            print(f"step {step}, loss {loss.item():.3f}, {time.time() - start:.0f} s", flush=True)
            torch.save(average.state_dict(), path)
    return average


def batch(speech: list, r: random.Random) -> tuple:
    """Spectrograms, cues, and which steps are speech rather than padding."""
    mels, cues, valid = [], [], []
    for _, mel, truth, _ in r.choices(speech, k=BATCH):
        start = r.randint(0, max(0, len(truth) - STEPS_PER_EXAMPLE))
        truth = truth[start : start + STEPS_PER_EXAMPLE].astype(np.float32)
        missing = STEPS_PER_EXAMPLE - len(truth)
        mel = mel[:, 2 * start : 2 * (start + len(truth))].astype(np.float32)
        # Something louder nearby.
        mel = mel - abs(r.gauss(0, 0.1)) - (r.uniform(0, 0.6) if r.random() < 0.15 else 0)
        if r.random() < 0.5:
            # A longer or shorter vocal tract: formants some bands, about 4 % each, lower or higher.
            mel = mel[np.clip(np.arange(BANDS) + r.randint(-3, 3), 0, BANDS - 1)]
        if r.random() < 0.4:
            band = r.randint(0, 70)
            mel[band : band + r.randint(1, 8)] = -1
        mels.append(np.pad(np.maximum(mel, -1), ((0, 0), (0, 2 * missing)), constant_values=-1))
        cues.append(np.pad(truth, ((0, missing), (0, 0))).T)
        valid.append(np.arange(STEPS_PER_EXAMPLE) < len(truth))
    return torch.from_numpy(np.stack(mels)), torch.from_numpy(np.stack(cues)), torch.from_numpy(np.stack(valid)).float()


def loss_of(network: Hearing, mel: torch.Tensor, cues: torch.Tensor, valid: torch.Tensor) -> torch.Tensor:
    outputs, reached = network(mel), [CLOSURE, DENTAL]
    distance = (outputs[:, CLOSURE + 1 : DENTAL] - cues[:, CLOSURE + 1 : DENTAL]) ** 2
    # While lips meet or part, the labels are least certain.
    moving = (cues[:, reached] > 0.1) & (cues[:, reached] < 0.9)
    doubt = F.binary_cross_entropy_with_logits(
        outputs[:, reached], cues[:, reached], reduction="none", pos_weight=torch.tensor([[2.0], [3.0]])
    ) * torch.where(moving, 0.3, 1.0)
    mean = lambda values: (values * valid[:, None]).sum() / (valid.sum() * values.shape[1])
    return 8 * mean(distance) + mean(doubt)


def follow(average: Hearing, network: Hearing, keep: float) -> None:
    with torch.no_grad():
        for kept, current in zip(average.state_dict().values(), network.state_dict().values()):
            if kept.dtype == torch.long:
                kept.copy_(current)
            else:
                kept.mul_(keep).add_(current, alpha=1 - keep)


if __name__ == "__main__":
    main()
