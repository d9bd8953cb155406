import tempfile
import unittest
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper
from torch import nn
from torch.nn import functional

from pack_export.channels_last import to_channels_last
from pack_export.command_line import options_of, parser
from pack_export.export_role import ExportOptions, Role, RoleExporter
from pack_export.fuse_attention import PLAIN, fused_attention
from pack_export.graph_check import problems_of
from pack_export.graph_cost import cost_of
from pack_export.half_precision import to_half
from pack_export.onnx_graph import export_graph
from pack_export.probe import ProbeInput
from pack_export.tensor_spec import TensorSpec

WIDTH, HEADS, GROUPS, GATED = 32, 2, 8, 1280


class Block(nn.Module):
    """A residual block with the time in it."""

    def __init__(self, taken: int):
        super().__init__()
        self.norm1, self.norm2 = nn.GroupNorm(GROUPS, taken), nn.GroupNorm(GROUPS, WIDTH)
        self.conv1, self.conv2 = nn.Conv2d(taken, WIDTH, 3, padding=1), nn.Conv2d(WIDTH, WIDTH, 3, padding=1)
        self.time, self.skip = nn.Linear(16, WIDTH), nn.Conv2d(taken, WIDTH, 1)

    def forward(self, x, time):
        entered = self.conv1(functional.silu(self.norm1(x))) + self.time(time)[:, :, None, None]
        return (self.skip(x) + self.conv2(functional.silu(self.norm2(entered)))) / 1.0


class Attention(nn.Module):
    """Attention among tokens, and a gated layer."""

    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(3))
        self.to_out = nn.ModuleList([nn.Linear(WIDTH, WIDTH)])
        self.gate, self.join = nn.Linear(WIDTH, 2 * GATED), nn.Linear(GATED, WIDTH)

    def forward(self, x):
        batch, normed = x.shape[0], self.norm1(x)
        parts = (part(normed).view(batch, -1, HEADS, WIDTH // HEADS) for part in (self.query, self.key, self.value))
        attended = functional.scaled_dot_product_attention(*(part.transpose(1, 2) for part in parts))
        x = x + self.to_out[0](attended.transpose(1, 2).reshape(batch, -1, WIDTH))
        value, gate = self.gate(self.norm2(x)).chunk(2, dim=-1)
        return x + self.join(value * functional.gelu(gate))


class Net(nn.Module):
    """Every layout of the published networks: frames beside channels, tokens of a picture and of a place in time."""

    def __init__(self):
        super().__init__()
        self.enter, self.leave = nn.Conv2d(5, WIDTH, 3, padding=1), nn.Conv2d(WIDTH, 4, 3, padding=1)
        self.down, self.up = nn.Conv2d(WIDTH, WIDTH, 3, stride=2), nn.Conv2d(WIDTH, WIDTH, 3, padding=1)
        self.block1, self.block2 = Block(WIDTH), Block(2 * WIDTH)
        self.norm, self.inward, self.outward = nn.GroupNorm(GROUPS, WIDTH), nn.Conv2d(WIDTH, WIDTH, 1), nn.Conv2d(WIDTH, WIDTH, 1)
        self.spatial, self.temporal, self.window = Attention(), Attention(), nn.GroupNorm(GROUPS, WIDTH)
        self.register_buffer("mask", torch.rand(1, 1, 1, 8, 12))

    def forward(self, latent, time):
        batch, channels, frames, height, width = latent.shape
        pictures = latent.transpose(1, 2).reshape(frames, channels, height, width)
        entered = self.enter(pictures)
        x = self.block1(entered, time)
        tokens = self.inward(self.norm(x)).permute(0, 2, 3, 1).reshape(frames, height * width, WIDTH)
        x = x + self.outward(self.spatial(tokens).reshape(frames, height, width, WIDTH).permute(0, 3, 1, 2))
        video = self.window(x.reshape(1, frames, WIDTH, height, width).transpose(1, 2))
        places = video.permute(0, 2, 3, 4, 1).reshape(frames, height * width, WIDTH).transpose(0, 1)
        moved = self.temporal(places).transpose(0, 1).reshape(1, frames, height, width, WIDTH).permute(0, 4, 1, 2, 3) * self.mask
        x = x + moved.transpose(1, 2).reshape(frames, WIDTH, height, width)
        small = self.down(functional.pad(x, (0, 1, 0, 1)))
        x = self.up(functional.interpolate(small, scale_factor=2.0, mode="nearest"))
        x = self.block2(torch.cat([x, entered], dim=1), time)
        deep = x[:, :3].reshape(1, frames, 3, height, width).transpose(1, 2)
        return self.leave(x).reshape(1, frames, 4, height, width).transpose(1, 2), deep


INPUTS = [TensorSpec("latent", [1, 5, "frames", 8, 12]), TensorSpec("time", [1, 16])]
OUTPUTS = [TensorSpec("prediction", [1, 4, "frames", 8, 12]), TensorSpec("deep", [1, 3, "frames", 8, 12])]


def defined(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with operators that only a card has in the place of each, by their definition, those of ONNX."""
    nodes, weights = [], {tensor.name: tensor.data_type for tensor in model.graph.initializer}

    def add(operator: str, given: list, made: str, **attributes) -> str:
        nodes.append(helper.make_node(operator, given, [made], **attributes))
        return made

    def constant(name: str, values: list) -> str:
        return add("Constant", [], name, value=helper.make_tensor(name, TensorProto.INT64, [len(values)], values))

    for node in model.graph.node:
        made, x = node.output[0], (*node.input, "")[0]
        options = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
        if node.op_type == "NhwcConv":
            given = [add("Transpose", [name], f"{made}_{i}", perm=[0, 3, 1, 2]) for i, name in enumerate(node.input[:2])]
            add("Transpose", [add("Conv", [*given, *node.input[2:]], f"{made}_first", **options)], made, perm=[0, 2, 3, 1])
        elif node.op_type == "GroupNorm":
            assert options["channels_last"] == 1 and all(weights[name] == TensorProto.FLOAT for name in node.input[1:])
            groups, ones = options["groups"], add("Cast", [x], f"{made}_single", to=TensorProto.FLOAT)
            first = add("Transpose", [ones], f"{made}_turned", perm=[0, 3, 1, 2])
            split = add("Reshape", [first, constant(f"{made}_groups", [0, groups, -1])], f"{made}_split")
            flat = [helper.make_tensor(f"{made}_{value}", TensorProto.FLOAT, [groups], [value] * groups) for value in (1.0, 0.0)]
            given = [split, *(add("Constant", [], tensor.name, value=tensor) for tensor in flat)]
            split = add("InstanceNormalization", given, f"{made}_normal", epsilon=options["epsilon"])
            joined = add("Reshape", [split, add("Shape", [first], f"{made}_shape")], f"{made}_joined")
            last = add("Transpose", [joined], f"{made}_last", perm=[0, 2, 3, 1])
            last = add("Add", [add("Mul", [last, node.input[1]], f"{made}_scaled"), node.input[2]], f"{made}_shifted")
            if options["activation"]:
                last = add("Mul", [last, add("Sigmoid", [last], f"{made}_sigmoid")], f"{made}_silu")
            add("CastLike", [last, x], made)
        elif node.op_type == "BiasSplitGelu":
            biased = add("Add", list(node.input), f"{made}_biased")
            nodes.append(helper.make_node("Split", [biased], [f"{made}_value", f"{made}_gate"], axis=-1))
            gate = f"{made}_gate"
            root = add("CastLike", [add("Constant", [], f"{made}_root", value_float=2**0.5), gate], f"{made}_cast")
            half = add("CastLike", [add("Constant", [], f"{made}_half", value_float=0.5), gate], f"{made}_cast_half")
            one = add("CastLike", [add("Constant", [], f"{made}_one", value_float=1.0), gate], f"{made}_cast_one")
            share = add("Add", [add("Erf", [add("Div", [gate, root], f"{made}_wide")], f"{made}_erf"), one], f"{made}_share")
            weighed = add("Mul", [add("Mul", [gate, half], f"{made}_halved"), share], f"{made}_weighed")
            add("Mul", [f"{made}_value", weighed], made)
        else:
            nodes.append(node)
    plain = onnx.ModelProto.FromString(model.SerializeToString())
    del plain.graph.node[:]
    plain.graph.node.extend(nodes)
    return plain


@unittest.skipIf(PLAIN is None or not hasattr(onnx.shape_inference, "infer_node_outputs"), "this torch or this onnx is too old")
class ChannelsLastTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        torch.manual_seed(1)
        cls.net = Net().eval()
        with torch.no_grad():
            for weight in cls.net.parameters():
                weight += 0.1 * torch.randn_like(weight)
        cls.models = {}
        for precision in ("float32", "float16"):
            with tempfile.TemporaryDirectory() as folder, fused_attention():
                model = export_graph(cls.net, cls.inputs(3), INPUTS, OUTPUTS, Path(folder)).model
                if precision == "float16":
                    to_half(model, Path(folder))
                cls.models[precision, "first"] = onnx.ModelProto.FromString(model.SerializeToString())
                to_channels_last(model, Path(folder))
                cls.models[precision, "last"] = model

    @staticmethod
    def inputs(frames: int) -> list:
        generator = torch.Generator().manual_seed(frames)
        return [torch.randn(1, 5, frames, 8, 12, generator=generator), torch.randn(1, 16, generator=generator)]

    def deviation(self, precision: str, layout: str, frames: int) -> float:
        """Largest deviation from what torch answers, as a share of its root mean square."""
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        model = defined(self.models[precision, layout]).SerializeToString()
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        feeds = self.inputs(frames)
        found = session.run(None, dict(zip(("latent", "time"), (feed.numpy() for feed in feeds))))
        with torch.no_grad():
            wanted = [answer.numpy() for answer in self.net(*feeds)]
        self.assertEqual([answer.shape for answer in found], [answer.shape for answer in wanted])
        return max(float(np.abs(a - b).max() / np.sqrt(np.mean(b**2))) for a, b in zip(found, wanted))

    def counts(self, precision: str, layout: str) -> Counter:
        return Counter(node.op_type for node in self.models[precision, layout].graph.node)

    @unittest.skipIf(find_spec("onnxruntime") is None, "onnxruntime is not installed")
    def test_it_computes_what_torch_does_at_every_number_of_frames(self):
        for frames in (1, 3, 4):
            self.assertLess(self.deviation("float32", "last", frames), 1e-5)

    @unittest.skipIf(find_spec("onnxruntime") is None, "onnxruntime is not installed")
    def test_in_half_precision_it_deviates_no_more_than_the_order_of_onnx(self):
        self.assertLess(self.deviation("float16", "last", 3), 1.2 * self.deviation("float16", "first", 3))

    def test_convolutions_norms_and_gates_are_the_operators_of_the_cuda_provider(self):
        before, after = self.counts("float16", "first"), self.counts("float16", "last")
        self.assertEqual(after["NhwcConv"], before["Conv"])
        self.assertEqual(after["GroupNorm"], before["InstanceNormalization"])
        self.assertEqual(after["BiasSplitGelu"], before["Erf"])
        self.assertFalse({"Conv", "InstanceNormalization", "Erf", "Div"} & {*after})

    def test_only_inputs_and_results_are_cast(self):
        self.assertEqual(self.counts("float16", "last")["Cast"], len(INPUTS) + len(OUTPUTS))

    def test_only_attention_in_time_and_the_boundary_are_transposed(self):
        # The latent to frames and these to the layout, both results, and the places of a picture as tokens in time, there
        # and back.
        self.assertEqual(self.counts("float16", "last")["Transpose"], 6)

    def test_the_same_is_multiplied_in_less_memory(self):
        with tempfile.TemporaryDirectory() as folder:
            costs = []
            for layout in ("first", "last"):
                path = Path(folder) / f"{layout}.onnx"
                path.write_bytes(self.models["float16", layout].SerializeToString())
                costs.append(cost_of(path, {"frames": 3}))
        self.assertEqual(costs[0].multiply_accumulates, costs[1].multiply_accumulates)
        self.assertLess(costs[1].live_bytes, costs[0].live_bytes)

    def test_the_exporter_writes_it_on_demand_with_turned_weights(self):
        probe = ProbeInput(dims={"frames": 2}, fill={"latent": "wave", "time": "wave"})
        role = Role("net", self.net, INPUTS, OUTPUTS, probe, attention=True)
        options = ExportOptions("float16", "cuda", fuse=True, layout="channels-last", data_file_from=0)
        with tempfile.TemporaryDirectory() as folder:
            entry = RoleExporter(Path(folder), options).export(role)
            path = Path(folder) / entry["file"]
            self.assertEqual(problems_of(path, entry, half=True), [])
            weights = {tensor.name: list(tensor.dims) for tensor in onnx.load(str(path)).graph.initializer}
        self.assertEqual(weights["enter.weight_last"], [WIDTH, 3, 3, 5])

    def test_it_is_the_default_where_its_operators_are_and_refused_elsewhere(self):
        given = parser("").parse_args
        paths = ["--upstream", ".", "--weights", ".", "--out", "new"]
        self.assertEqual(options_of(given([*paths, "--fp16", "--provider", "cuda"])).layout, "channels-last")
        for more in (["--provider", "cuda"], ["--fp16"], ["--fp16", "--provider", "webgpu"]):
            self.assertEqual(options_of(given([*paths, *more])).layout, "channels-first")
            with self.assertRaisesRegex(SystemExit, "needs --fp16 --provider cuda"):
                options_of(given([*paths, *more, "--layout", "channels-last"]))


if __name__ == "__main__":
    unittest.main()
