"""
Times the networks of an upstream in PyTorch, with random weights at their published sizes: what the runs of a pack, which
`npm run gpu-check` times, are to be compared with. The modules are those that the exporters trace, with upstream's own
classes in them, and HighSync's and LatentSync's guided steps also as upstream takes them. Half precision on a GPU.

    python scripts/export/torch_speed.py latentsync --upstream ../LatentSync --variants eager channels-last+search graph

Prints a line of JSON as soon as there is one: for each network and variant its time, or why it has none; then the frames a
second that an engine's networks make together.
"""

import argparse
import json
import signal
import statistics
import time
from contextlib import contextmanager
from pathlib import Path
from typing import Callable, Dict, FrozenSet, Iterator, List

import torch
from pack_export.command_line import use_upstream
from torch_networks import ENGINES, PLANS, Network, networks_of

try:
    from torch.utils.flop_counter import FlopCounterMode
except ImportError:
    # Before torch 2.1.
    FlopCounterMode = None

#: What a variant may add to the network as upstream's scripts run it. `search` has cuDNN try its convolutions, `graph` is
#: a CUDA graph.
OPTIONS = ("channels-last", "search", "compile", "graph")
VARIANTS = f"eager, or of {', '.join(OPTIONS)} with + between them"
#: Timed runs of a network, at most; slow ones end after these seconds, but not before the third.
RUNS, SECONDS_OF_RUNS = 20, 1
#: Before a CUDA graph is captured, libraries choose their kernels and memory.
WARM_UP = 3


class OutOfTime(BaseException):
    """Not an Exception, which the compiler would take for its own failure."""


@contextmanager
def time_limit(seconds: float):
    def stop(*_):
        raise OutOfTime(f"not done after {seconds:g} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def runner(module: torch.nn.Module, feeds: List[torch.Tensor], options: FrozenSet[str]) -> Callable[[], torch.Tensor]:
    """A function that runs the network on these inputs."""
    call = torch.compile(module, dynamic=False) if "compile" in options else module
    if "graph" not in options:
        return lambda: call(*feeds)
    if feeds[0].device.type != "cuda":
        raise ValueError("there are CUDA graphs on CUDA only")
    beside = torch.cuda.Stream()
    beside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(beside):
        for _ in range(WARM_UP):
            call(*feeds)
    torch.cuda.current_stream().wait_stream(beside)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        answer = call(*feeds)

    def replay():
        graph.replay()
        return answer

    return replay


def timed(run: Callable[[], torch.Tensor], device: str) -> tuple:
    """Seconds until the answer is there, and the answer."""
    started = time.perf_counter()
    answer = run()
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - started, answer


def measured(network: Network, options: FrozenSet[str], device: str, dtype: torch.dtype) -> dict:
    """
    Times of the network's runs, of which the first includes all that is prepared for them. The memory is that of torch's
    tensors, weights of the engine's other networks among them.
    """
    channels_last = "channels-last" in options
    # Upstream's scripts leave the choice to cuDNN's rules.
    torch.backends.cudnn.benchmark = "search" in options
    for weight in network.module.parameters():
        if weight.dim() == 4:
            weight.data = weight.data.to(memory_format=torch.channels_last if channels_last else torch.contiguous_format)
    feeds = network.feeds(device, dtype, channels_last)
    if device == "cuda":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    began = time.perf_counter()
    run = runner(network.module, feeds, options)
    _, answer = timed(run, device)
    first = time.perf_counter() - began
    if not bool(torch.isfinite(answer).all()):
        raise ValueError("the answer is not finite")
    timed(run, device)
    runs: List[float] = []
    while len(runs) < 3 or (len(runs) < RUNS and sum(runs) < SECONDS_OF_RUNS):
        runs.append(timed(run, device)[0])
    return {
        "ms": round(1000 * statistics.median(runs), 3),
        "fastest_ms": round(1000 * min(runs), 3),
        "runs": len(runs),
        "first_s": round(first, 2),
        **({"peak_gib": round(torch.cuda.max_memory_allocated() / 2**30, 2)} if device == "cuda" else {}),
    }


def operations_of(network: Network, device: str, dtype: torch.dtype) -> int:
    """Of one run, by torch's own count: products and attention, a multiplication and an addition being two."""
    counter = FlopCounterMode(display=False)
    with counter:
        network.module(*network.feeds(device, dtype, False))
    return counter.get_total_flops()


def variant(text: str) -> str:
    if text != "eager" and not set(text.split("+")) <= set(OPTIONS):
        raise argparse.ArgumentTypeError(f"{text} is not {VARIANTS}")
    return text


def parser() -> argparse.ArgumentParser:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("engine", choices=sorted(ENGINES))
    arguments.add_argument("--upstream", type=Path, help="checkout of the upstream repository; musetalk needs none")
    arguments.add_argument("--device", choices=["cuda", "cpu"], default="cuda" if torch.cuda.is_available() else "cpu")
    arguments.add_argument("--networks", nargs="+", help="these instead of all, in this order")
    plans = [plan for of_engine in PLANS.values() for plan in of_engine]
    arguments.add_argument("--plan", choices=plans, help="the networks that make frames in this way, instead of all")
    default = ["eager", "channels-last+search", "graph"]
    arguments.add_argument("--variants", nargs="+", type=variant, default=default, help=VARIANTS)
    arguments.add_argument("--seconds", type=float, default=60, help="limit for one network in one variant")
    sizes = "reduced: upstream's classes at small width; small: this project's stand-ins, without upstream; for tests"
    arguments.add_argument("--size", choices=["published", "reduced", "small"], default="published", help=sizes)
    return arguments


@torch.no_grad()
def lines_of(given: argparse.Namespace) -> Iterator[dict]:
    upstream = use_upstream(given.upstream) if given.upstream else None
    # As upstream's scripts choose it.
    dtype = torch.float16 if given.device == "cuda" else torch.float32
    name = torch.cuda.get_device_name() if given.device == "cuda" else "cpu"
    yield {"engine": given.engine, "device": name, "torch": torch.__version__, "dtype": str(dtype).replace("torch.", "")}
    networks = {network.name: network for network in networks_of(given.engine, given.size, upstream, given.device, dtype)}
    operations: Dict[str, int] = {}
    for made_of in given.variants:
        options, times = frozenset(made_of.split("+")), {}
        for name in given.networks or PLANS[given.engine].get(given.plan) or networks:
            line = {"engine": given.engine, "network": name, "variant": made_of}
            try:
                with time_limit(given.seconds):
                    line.update(measured(networks[name], options, given.device, dtype))
                    times[name] = line["ms"]
                    if FlopCounterMode and name not in operations:
                        operations[name] = operations_of(networks[name], given.device, dtype)
                if name in operations:
                    line["tflops"] = round(operations[name] / line["ms"] / 1e9, 3)
            except (Exception, OutOfTime) as problem:
                line["problem"] = f"{type(problem).__name__}: {problem}"[:500]
            yield line
            if "compile" in options:
                torch.compiler.reset()
        for plan, runs in PLANS[given.engine].items():
            if runs.keys() <= times.keys():
                total = sum(per_frame * times[name] for name, per_frame in runs.items())
                yield {"engine": plan, "variant": made_of, "frames_per_second": float(f"{1000 / total:.3g}")}


def main() -> None:
    arguments = parser()
    given = arguments.parse_args()
    if given.upstream is None and given.engine != "musetalk" and given.size != "small":
        arguments.error(f"{given.engine} needs --upstream")
    if given.plan is not None and given.plan not in PLANS[given.engine]:
        arguments.error(f"{given.engine} has the plans {', '.join(PLANS[given.engine])}")
    for line in lines_of(given):
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
