"""
Half-precision graphs for CUDA whose pictures lie in memory with their channels last, as tensor cores take them. In the order
of ONNX every convolution turns its input and its output, and attention, which has the channels last, turns them once more.
"""

from pathlib import Path
from typing import Dict, List, Optional, Tuple

import numpy as np
import onnx
from onnx import helper, numpy_helper

from .cuda_operators import use_cuda_operators
from .fold_shapes import SIZES
from .graph_nodes import GraphNodes, write_needed
from .graph_weights import replace
from .tensor_shapes import TensorShapes

#: One number of the result depends on one of every input, at the same place.
ELEMENTWISE = {"Add", "Sub", "Mul", "Div", "Sigmoid", "Erf", "Cast", "Relu", "Tanh", "Sqrt", "Exp", "Neg"}
VIEWS = {"Reshape", "Unsqueeze", "Squeeze", "Flatten"}

#: Axes of a tensor in the order in which memory holds them.
Order = Tuple[int, ...]


def to_channels_last(model: onnx.ModelProto, folder: Path) -> None:
    """
    Rewrites a half-precision model in `folder` in place. Convolutions become NhwcConv and group norms GroupNorm, which take
    and make tensors with the channels last. What lies between them follows, and what needs the order of ONNX gets a
    Transpose. A graph without group norms, which is no network of pictures here, is left as it is.
    """
    if all(node.op_type != "InstanceNormalization" for node in model.graph.node):
        return
    use_cuda_operators(model, folder)
    free = {dim.dim_param for value in model.graph.input for dim in value.type.tensor_type.shape.dim if dim.dim_param}
    tensors = [TensorShapes(model.graph, dict.fromkeys(free, size)) for size in SIZES]
    layouts = _Layouts(GraphNodes(model, folder), tensors, folder)
    for node in layouts.source.nodes:
        layouts.place(node)
    for value in model.graph.output:
        layouts.finish(value.name)
    write_needed(model.graph, layouts.nodes)


class _Layouts:
    """Every tensor of the traced graph as it is held: under which name, with its axes in which order."""

    def __init__(self, source: GraphNodes, tensors: List[TensorShapes], folder: Path):
        self.source, self.nodes = source, []
        self._tensors, self._folder = tensors, folder
        #: What is not in it is held as it was traced.
        self._held: Dict[str, Tuple[str, Order]] = {}
        #: Tensors that another one equals.
        self._copies: Dict[str, str] = {}
        #: The tensor that a traced one is a view of, and the same of those that are held.
        self._seen: Dict[str, str] = {}
        self._viewed: Dict[str, str] = {}
        #: Tensors that were turned already.
        self._turned: Dict[Tuple[str, Order], str] = {}

    def place(self, node: onnx.NodeProto) -> None:
        """Writes a node, in the order of its inputs' axes if it has one for them."""
        operator, rank = node.op_type, len(self._shape(node.output[0]))
        for i, name in enumerate(node.input):
            node.input[i] = self._copies.get(name, name)
        if operator == "Conv" and rank == 4 and node.input[1] in self.source.weights:
            self._convolve(node)
        elif operator == "GroupNorm":
            self._normalize(node, rank)
        elif self._is_copy(node):
            self._copies[node.output[0]] = node.input[0]
        elif operator == "Transpose":
            name, order = self._holding(node.input[0])
            axes = list(next(helper.get_attribute_value(a) for a in node.attribute if a.name == "perm"))
            self._held[node.output[0]] = name, tuple(axes.index(axis) for axis in order)
        elif operator in VIEWS and self._view(node):
            return
        elif operator in (*ELEMENTWISE, "Concat", "Resize", "Pad", "Slice") and self._follow(node, rank):
            return
        else:
            for i, name in enumerate(node.input):
                node.input[i] = self._plain(name)
            self.nodes.append(node)

    def finish(self, name: str) -> None:
        """Makes a result of the graph, which has the order of ONNX."""
        if name in self._held:
            held, order = self._held[name]
            self._transpose(held, order, self._plain_order(name), name)
        elif name in self._copies:
            self.nodes.append(helper.make_node("Identity", [self._plain(self._copies[name])], [name]))

    def _convolve(self, node: onnx.NodeProto) -> None:
        weight, name = self.source.weights[node.input[1]], f"{node.input[1]}_last"
        if name not in self.source.weights:
            turned = onnx.TensorProto.FromString(weight.SerializeToString())
            replace(turned, self.source.value(node.input[1]).transpose(0, 2, 3, 1), self._folder)
            turned.name = name
            weight.CopyFrom(turned)
            self.source.weights[name] = weight
        given = [self._ordered(node.input[0], (0, 2, 3, 1)), name, *node.input[2:]]
        self._write(node, given, (0, 2, 3, 1), "NhwcConv", "com.microsoft")

    def _normalize(self, node: onnx.NodeProto, rank: int) -> None:
        """GroupNorm takes four axes: what has more or fewer between frames and channels is seen as a picture."""
        order = (0, *range(2, rank), 1)
        given = self._ordered(node.input[0], order)
        self._write(node, [given, *node.input[1:]], order)
        if rank == 4:
            return
        first, *inner, channels = self._sizes(node.output[0], order)
        # Where a free dimension is the first, 0 keeps it; where one is inside, -1 takes it.
        seen = [0 if first == -1 else first, -1 if -1 in inner else int(np.prod(inner)), 1, channels]
        norm, (made, _) = self.nodes.pop(), self._held[node.output[0]]
        norm.input[0], norm.output[0] = self._reshape(given, seen, f"{made}_given"), f"{made}_seen"
        self.nodes.append(norm)
        self._reshape(norm.output[0], [seen[0], *inner, channels], made)

    def _is_copy(self, node: onnx.NodeProto) -> bool:
        """Whether nothing happens: a cast to the type that was there, or a division by one."""
        if node.op_type == "Cast":
            types = self._tensors[0].types
            return types.get(node.input[0]) == types.get(node.output[0])
        if node.op_type != "Div" or self._shape(node.input[0]) != self._shape(node.output[0]):
            return False
        divisor = self.source.value(node.input[1])
        return divisor is not None and divisor.size == 1 and float(divisor.ravel()[0]) == 1

    def _view(self, node: onnx.NodeProto) -> bool:
        """A reshape, if it keeps each run of axes that it joins or splits together in memory."""
        held, order = self._holding(node.input[0])
        made, name = self._plain_order(node.output[0]), node.output[0]
        if order == self._plain_order(node.input[0]):
            seen = self._seen[name] = self._seen.get(node.input[0], node.input[0])
            if all(tensors.shapes[seen] == tensors.shapes[name] for tensors in self._tensors):
                self._copies[name] = seen
                return True
        else:
            made, name = self._runs_in(order, node), f"{name}_last"
        sizes = [] if made is None else self._sizes(node.output[0], made)
        if not sizes or sizes.count(-1) > 1:
            return False
        self._reshape(held, sizes, name)
        if name != node.output[0]:
            self._held[node.output[0]] = name, made
        return True

    def _runs_in(self, order: Order, node: onnx.NodeProto) -> Optional[Order]:
        """The order in which a reshape's output is held if its input's is this one; None if memory must be moved."""
        runs, other = (_runs(tensors.shapes[node.input[0]], tensors.shapes[node.output[0]]) for tensors in self._tensors)
        made, at = [], 0
        while at < len(order):
            before, after = next((run for run in runs or [] if order[at] in run[0]), ([], []))
            if runs != other or not before or list(order[at : at + len(before)]) != before:
                return None
            made, at = made + after, at + len(before)
        return tuple(made)

    def _follow(self, node: onnx.NodeProto, rank: int) -> bool:
        """An operator that works in any order of axes, in the one for which the fewest numbers are turned."""
        count = len(node.input) if node.op_type in (*ELEMENTWISE, "Concat") else 1
        wide = [name for name in node.input[:count] if name and len(self._shape(name)) == rank]
        traced = tuple(range(rank))
        orders = {self._holding(name)[1] for name in wide}
        # Of two that are as good, not the traced one, and one that still begins with the pictures.
        order = min(orders, key=lambda order: (sum(self._turning(x, order) for x in wide), order == traced, order), default=traced)
        if order == traced:
            return False
        given = [self._broadcast(name, order) for name in node.input[:count]]
        rest = [self._reordered(node, i, order) for i in range(count, len(node.input))]
        if None in given or None in rest:
            return False
        for attribute in node.attribute:
            if node.op_type == "Concat" and attribute.name == "axis":
                attribute.i = order.index(attribute.i % rank)
        self._write(node, [*given, *rest], order)
        return True

    def _reordered(self, node: onnx.NodeProto, i: int, order: Order) -> Optional[str]:
        """A constant input that has one number per axis, or names axes, for another order of them."""
        name = node.input[i]
        value = self.source.value(name) if name else None
        if value is None or value.size == 0:
            return name if not name or value is not None else None
        if node.op_type == "Slice":
            if i != 3:
                return name if len(node.input) > 3 else None
            changed = [order.index(int(axis) % len(order)) for axis in value]
        elif value.size == 1 and node.op_type == "Pad":
            return name
        else:
            changed = value.reshape(-1, len(order))[:, order].ravel()
        return self._constant(np.asarray(changed, value.dtype), f"{node.output[0]}_{i}")

    def _broadcast(self, name: str, order: Order) -> Optional[str]:
        """An input of an elementwise operator: a constant may have fewer axes than the other input."""
        value = self.source.value(name)
        if value is None:
            return self._ordered(name, order) if len(self._shape(name)) == len(order) else None
        turned = value.reshape([1] * (len(order) - value.ndim) + list(value.shape)).transpose(order)
        while turned.ndim > 1 and turned.shape[0] == 1:
            turned = turned[0]
        return name if np.array_equal(turned, value) else self._constant(turned, f"{name}_{''.join(map(str, order))}")

    def _ordered(self, name: str, order: Order) -> str:
        held, now = self._holding(name)
        if now == order:
            return held
        key = (name, order)
        if key not in self._turned:
            self._turned[key] = self._transpose(held, now, order, f"{name}_{''.join(map(str, order))}", name)
        return self._turned[key]

    def _turning(self, name: str, order: Order) -> int:
        """How many numbers must be moved to have a tensor in this order."""
        there = self._holding(name)[1] == order or (name, order) in self._turned or self.source.value(name) is not None
        return 0 if there else int(np.prod(self._shape(name)))

    def _plain(self, name: str) -> str:
        return self._ordered(name, self._plain_order(name)) if name in self._held else name

    def _plain_order(self, name: str) -> Order:
        return tuple(range(len(self._shape(name))))

    def _holding(self, name: str) -> Tuple[str, Order]:
        return self._held.get(name, (name, self._plain_order(name)))

    def _transpose(self, held: str, now: Order, order: Order, made: str, name: Optional[str] = None) -> str:
        moved = [now.index(axis) for axis in order]
        shape = self._shape(name) if name else ()
        long = [axis for axis in now if not shape or shape[axis] != 1]
        sizes = self._sizes(name, order) if name else []
        if shape and long == [axis for axis in order if axis in long] and sizes.count(-1) <= 1:
            return self._reshape(held, sizes, made)
        self.nodes.append(helper.make_node("Transpose", [held], [made], perm=moved))
        return made

    def _reshape(self, held: str, sizes: List[int], made: str) -> str:
        shape = self._constant(np.array(sizes, np.int64), f"{made}_sizes")
        # What is reshaped twice has the second shape, unless this keeps a size of the first.
        if 0 not in sizes:
            self._viewed[made] = held = self._viewed.get(held, held)
        self.nodes.append(helper.make_node("Reshape", [held, shape], [made]))
        return made

    def _constant(self, value: np.ndarray, name: str) -> str:
        if name not in self.source.weights:
            self.source.graph.initializer.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
            self.source.weights[name] = self.source.graph.initializer[-1]
        return name

    def _write(self, node: onnx.NodeProto, given: list, order: Order, operator: str = "", domain: str = "") -> None:
        written = onnx.NodeProto.FromString(node.SerializeToString())
        written.op_type, written.domain = operator or node.op_type, domain or node.domain
        written.input[:] = given
        written.output[0] = f"{node.output[0]}_last"
        self._held[node.output[0]] = written.output[0], order
        self.nodes.append(written)

    def _shape(self, name: str) -> tuple:
        return self._tensors[0].shapes[name]

    def _sizes(self, name: str, order: Order) -> List[int]:
        """A tensor's sizes in this order; -1 for each that depends on a free dimension."""
        sizes, others = (tensors.shapes[name] for tensors in self._tensors)
        return [sizes[axis] if sizes[axis] == others[axis] else -1 for axis in order]


def _runs(before: tuple, after: tuple) -> Optional[List[Tuple[list, list]]]:
    """Which runs of axes a reshape joins or splits into which: pairs of lists of axes, with as many elements each."""
    runs, i, j = [], 0, 0
    while i < len(before) and j < len(after):
        taken, made = [i], [j]
        i, j = i + 1, j + 1
        elements, wanted = before[taken[0]], after[made[0]]
        while elements != wanted:
            if elements < wanted and i < len(before):
                elements *= before[i]
                taken, i = [*taken, i], i + 1
            elif elements > wanted and j < len(after):
                wanted *= after[j]
                made, j = [*made, j], j + 1
            else:
                return None
        runs.append((taken, made))
    if not runs or any(size != 1 for size in (*before[i:], *after[j:])):
        return None
    runs[-1] = ([*runs[-1][0], *range(i, len(before))], [*runs[-1][1], *range(j, len(after))])
    return runs
