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
from articulation.corpus import HELD_OUT, heard, spoken
from articulation.evaluation import figures
from articulation.finishing import finished, ramps_for
from articulation.fixture import write_fixture
from articulation.network import Hearing, folded, mean_of, outputs_of, read_safetensors, unfolded, write_safetensors
from articulation.natural import natural_speech
from articulation.spectrogram import BANDS, DEPTH
from articulation.trajectories import CLOSURE, DENTAL, JAW, STEPS_PER_SECOND

ROOT = Path(__file__).resolve().parents[2]
WEIGHTS = ROOT / "packages/builtin-packs/weights"
BATCH, STEPS_PER_EXAMPLE = 32, 200
#: Utterances that are made together.
BLOCK = 10
#: How far music is below the people that are validated with, in decibels.
MUSIC_BELOW = 10


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=8)
    parser.add_argument("--utterances", type=int, default=4000, help="of about four seconds, each heard twice")
    parser.add_argument("--steps", type=int, nargs="+", default=[3000, 2000, 2200], help="of the optimizer, round by round")
    parser.add_argument("--workers", type=int, default=2, help="processes that make speech")
    parser.add_argument("--folder", type=Path, default=ROOT / ".local/articulation", help="keeps speech and network")
    parser.add_argument("--natural", type=Path, help="recordings of people to validate with: see articulation/natural.py")
    parser.add_argument("--unseen", type=Path, help="recordings of people that no choice was made with")
    parser.add_argument("--evaluate", action="store_true", help="use the network that an earlier call trained")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    torch.set_num_threads(1)

    kept = given.folder / "hearing.safetensors"
    torch.manual_seed(given.seed)
    if given.evaluate:
        tensors = read_safetensors(kept)
    else:
        speech = heard_speech(given, "training", given.utterances, times=2)
        nobody = heard_speech(given, "noise", given.utterances // 6, held_out="nothing")
        several = [read_safetensors(WEIGHTS / "hearing.safetensors")]
        for turn, steps in enumerate(given.steps):
            several.append(folded(trained(several[-1], speech, nobody, steps, random.Random(given.seed + turn))))
        tensors = mean_of(several)
        write_safetensors(kept, tensors, {})
    hearing = lambda mel: outputs_of(tensors, mel)
    people = {}
    if given.natural:
        people = {"natural": natural_speech(given.natural), "natural, music": natural_speech(given.natural, MUSIC_BELOW)}
    validation = heard_speech(given, "validation", 60, condition="clean") + heard_speech(given, "degraded", 60)
    ramps = ramps_for(sum(people.values(), []) or validation, hearing, 0.25)
    formulas = ramps_for(validation, analytic_cues, 0.2)
    heard_by_it = lambda mel: finished(hearing(mel), ramps)
    by_formulas = lambda mel: finished(analytic_cues(mel), formulas)
    compared = lambda unheard: {"network": figures(unheard, heard_by_it), "formulas": figures(unheard, by_formulas)}
    if given.unseen:
        people["unseen"] = natural_speech(given.unseen)
        people["unseen, music"] = natural_speech(given.unseen, MUSIC_BELOW)
    natural = {name: compared(speech) for name, speech in people.items()}
    results = {}
    for held_out in HELD_OUT:
        for condition in ("clean", "any"):
            unheard = heard_speech(given, f"{held_out}-{condition}", 60, held_out=held_out, condition=condition)
            results[held_out, condition] = compared(unheard)
    hard = {"whisper": compared(heard_speech(given, "whisper", 40, held_out="whisper", condition="clean"))}
    for condition in ("room", "telephone", "noise", "music", "clipping"):
        unheard = [
            one
            for held_out in HELD_OUT
            for one in heard_speech(given, f"{held_out}-{condition}-hard", 10, held_out=held_out, condition=condition)
        ]
        hard[condition] = compared(unheard)

    silent = heard_speech(given, "nobody", 60, held_out="nothing", condition="clean")
    restless = np.mean(np.concatenate([heard_by_it(one.mel)[:, JAW] for one in silent]) > 0.1)

    WEIGHTS.mkdir(exist_ok=True)
    metadata = {"ramps": json.dumps(ramps), "seed": str(given.seed)}
    write_safetensors(WEIGHTS / "hearing.safetensors", tensors, metadata)
    (WEIGHTS / "README.md").write_text(card(given.seed, natural, results, hard, restless))
    write_fixture(ROOT / "packages/builtin-packs/test-data/hearing", heard_by_it)


def heard_speech(given: argparse.Namespace, name: str, count: int, times: int = 1, **options) -> list:
    """Labelled utterances, kept in a file."""
    path = given.folder / f"{name}.pickle"
    if path.exists():
        return pickle.loads(path.read_bytes())
    with Pool(given.workers) as pool:
        tasks = [(f"{given.seed} {name} {block}", times, options) for block in range(count // BLOCK)]
        speech = [one for block in pool.imap(speak, tasks) for one in block]
    path.write_bytes(pickle.dumps(speech))
    print(f"{name}: {minutes(speech):.0f} minutes", flush=True)
    return speech


def speak(task: tuple) -> list:
    """Some utterances, which are also one another's background."""
    seed, times, options = task
    held_out = options.get("held_out")
    speech = [spoken(f"{seed} {i}", held_out) for i in range(BLOCK)]
    others = [] if held_out == "nothing" else [one.audio for one in speech]
    condition = options.get("condition", "any")
    return [heard(one, f"{seed} {i} {j}", condition, others) for j in range(times) for i, one in enumerate(speech)]


def minutes(speech: list) -> float:
    return sum(len(one.cues) for one in speech) / STEPS_PER_SECOND / 60


def trained(tensors: dict, speech: list, nobody: list, steps: int, r: random.Random) -> Hearing:
    """A further round from these weights on: the average of the weights along the way."""
    network, start = unfolded(tensors, batch(speech, nobody, r)[0]), time.time()
    average = copy.deepcopy(network)
    optimizer = torch.optim.AdamW(network.parameters(), weight_decay=1e-3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-3, steps)
    for step in range(1, steps + 1):
        network.train()
        loss = loss_of(network, *batch(speech, nobody, r))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        follow(average, network, min(0.998, step / (step + 50)))
        if step % 250 == 0 or step == steps:
            print(f"step {step}, loss {loss.item():.3f}, {time.time() - start:.0f} s", flush=True)
    return average


def batch(speech: list, nobody: list, r: random.Random) -> tuple:
    """Spectrograms, cues, and which steps are speech rather than padding."""
    mels, cues, valid = [], [], []
    for utterance in r.choices(speech + nobody, k=BATCH):
        mel, truth, is_speech = section(utterance, r)
        # Something louder nearby.
        mel = mel - abs(r.gauss(0, 0.1)) - (r.uniform(0, 0.6) if r.random() < 0.15 else 0)
        if r.random() < 0.6:
            # A longer or shorter vocal tract: formants some bands, about 4 % each, lower or higher.
            mel = mel[np.clip(np.arange(BANDS) + r.randint(-4, 4), 0, BANDS - 1)]
        if r.random() < 0.3:
            mel = mel + np.linspace(-1, 1, BANDS)[:, None] * r.uniform(-0.25, 0.25)
        kind = r.random()
        if kind < 0.45:
            # Music, noise or somebody else, by up to 25 dB below.
            other, least = (nobody, 0.0) if kind < 0.38 else (speech, 0.35)
            beside = np.roll(section(r.choice(other), r)[0], r.randrange(2 * STEPS_PER_EXAMPLE), 1)
            mel = added(mel, np.minimum(beside, 1) - r.uniform(least, 1))
        if r.random() < 0.25:
            band = r.randint(0, 70)
            mel[band : band + r.randint(1, 8)] = -1
        mels.append(np.clip(mel, -1, 1).astype(np.float32))
        cues.append(truth.T)
        valid.append(is_speech)
    return torch.from_numpy(np.stack(mels)), torch.from_numpy(np.stack(cues)), torch.from_numpy(np.stack(valid)).float()


def section(utterance, r: random.Random) -> tuple:
    """[80, 400], [200, 5] and [200] of an utterance; padded where it is shorter."""
    start = r.randint(0, max(0, len(utterance.cues) - STEPS_PER_EXAMPLE))
    truth = utterance.cues[start : start + STEPS_PER_EXAMPLE].astype(np.float32)
    mel = utterance.mel[:, 2 * start : 2 * (start + len(truth))].astype(np.float32)
    missing = STEPS_PER_EXAMPLE - len(truth)
    padded = np.pad(mel, ((0, 0), (0, 2 * missing)), constant_values=-1)
    return padded, np.pad(truth, ((0, missing), (0, 0))), np.arange(STEPS_PER_EXAMPLE) < len(truth)


def added(mel: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Powers of two normalized spectrograms add."""
    scale = DEPTH / 2
    return np.log10(10 ** (scale * mel) + 10 ** (scale * other)) / scale


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
