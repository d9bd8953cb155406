"""Fused attention: without it a graph holds frames × heads × tokens² scores, 17 GB for one tensor at 512 pixels."""

from contextlib import contextmanager

import torch
from torch.nn import functional

TOKENS_FIRST = [0, 2, 1, 3]
#: The attention function of diffusers and the upstream repositories, if torch has it (2.0).
PLAIN = getattr(functional, "scaled_dot_product_attention", None)


class _OneOperator(torch.autograd.Function):
    """Takes and returns [batch, heads, tokens, width], like torch's own function."""

    @staticmethod
    def forward(ctx, query, key, value, heads: int, width: int):
        return PLAIN(query, key, value)

    @staticmethod
    def symbolic(graph, query, key, value, heads: int, width: int):
        def reshaped(tensor, shape):
            return graph.op("Reshape", tensor, graph.op("Constant", value_t=torch.tensor(shape)))

        tensors = [graph.op("Transpose", tensor, perm_i=TOKENS_FIRST) for tensor in (query, key, value)]
        # In a shape, 0 keeps the size (batch) and -1 takes the rest (tokens).
        joined = [reshaped(tensor, [0, -1, heads * width]) for tensor in tensors]
        answer = graph.op("com.microsoft::MultiHeadAttention", *joined, num_heads_i=heads, scale_f=width**-0.5)
        answer = graph.op("Transpose", reshaped(answer, [0, -1, heads, width]), perm_i=TOKENS_FIRST)
        answer.setType(query.type())
        return answer


def _attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None):
    if attn_mask is not None or is_causal or scale is not None:
        raise NotImplementedError("attention with a mask or a scale of its own")
    return _OneOperator.apply(query, key, value, int(query.shape[1]), int(query.shape[3]))


@contextmanager
def fused_attention():
    """Inside this context, torch's scaled_dot_product_attention is traced to one operator of ONNX Runtime."""
    if PLAIN is None:
        print("  this torch has no attention of its own: it stays in single steps")
        yield
        return
    functional.scaled_dot_product_attention = _attention
    try:
        yield
    finally:
        functional.scaled_dot_product_attention = PLAIN
