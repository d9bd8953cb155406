"""Lets upstream's code run here unchanged: without a GPU, and without randomness."""

import torch


def run_on_cpu() -> None:
    """After this call, tensors that are sent to "cuda" stay where they are."""
    move = torch.Tensor.to

    def to(self, *args, **kwargs):
        args = tuple(_here(argument) for argument in args)
        kwargs = {name: _here(argument) for name, argument in kwargs.items()}
        return move(self, *args, **kwargs)

    torch.Tensor.to = to


def _here(argument):
    if isinstance(argument, (str, torch.device)) and str(argument).startswith("cuda"):
        return torch.device("cpu")
    return argument


def mode_instead_of_samples() -> None:
    """Upstream samples from the autoencoder's distribution, the service takes its mean."""
    try:
        from diffusers.models.autoencoders.vae import DiagonalGaussianDistribution
    except ImportError:
        from diffusers.models.vae import DiagonalGaussianDistribution

    DiagonalGaussianDistribution.sample = lambda self, *_, **__: self.mode()
