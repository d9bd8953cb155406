import json
import sys
import tempfile
import unittest
from importlib.util import find_spec
from pathlib import Path

import onnx
import torch
import torch.nn.functional as F

from pack_export.export_role import ExportOptions
from pack_export.networks.face_parsing import face_parsing_role
from pack_export.probe import wave
from pack_export.write_pack import PackLabel, write_pack

LABEL = PackLabel("musetalk", "test", "1.0.0", "MIT", "random weights")
CLASSES = 19


class SmallParser(torch.nn.Module):
    """
    Uses its features' sizes where BiSeNet does: whole maps are pooled to a gate and to a context that is expanded
    again, and three sets of scores are enlarged to the picture's size.
    """

    def __init__(self):
        super().__init__()
        self.down = torch.nn.Conv2d(3, 8, 8, stride=8)
        self.gate, self.context = torch.nn.Conv2d(8, 8, 1), torch.nn.Conv2d(8, 8, 1)
        self.heads = torch.nn.ModuleList(torch.nn.Conv2d(8, CLASSES, 1) for _ in range(3))

    def forward(self, image):
        height, width = image.size()[2:]
        features = self.down(image)
        features = features * torch.sigmoid(self.gate(F.avg_pool2d(features, features.size()[2:])))
        context = self.context(F.avg_pool2d(features, features.size()[2:]))
        features = features + F.interpolate(context, features.size()[2:], mode="nearest")
        spread = {"size": (height, width), "mode": "bilinear", "align_corners": True}
        return tuple(F.interpolate(head(features), **spread) for head in self.heads)


class FaceParsingTest(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = Path(folder.name) / "pack"
        self.net = SmallParser().eval()
        write_pack(self.out, LABEL, [face_parsing_role(self.net)], {}, ExportOptions())
        self.image = torch.from_numpy(wave([2, 3, 512, 512]))
        with torch.no_grad():
            scores, *_ = self.net(self.image)
        self.classes = scores.argmax(1)

    def test_the_graph_answers_the_likeliest_class_of_each_pixel(self):
        (classes,) = onnx.load(str(self.out / "face-parsing.onnx")).graph.output
        self.assertEqual(classes.type.tensor_type.elem_type, onnx.TensorProto.UINT8)
        role = json.loads((self.out / "pack.json").read_text())["roles"]["face_parsing"]
        self.assertEqual(role["outputs"]["classes"]["dims"], ["batch", 512, 512])
        probe = role["probe"]
        self.assertAlmostEqual(probe["means"]["classes"], float(self.classes.double().mean()), 5)

    def test_the_network_computes_as_before_afterwards(self):
        self.assertIs(sys.modules[__name__].F, torch.nn.functional)
        with torch.no_grad():
            self.assertEqual(self.net(self.image[:, :, :256])[0].shape, (2, CLASSES, 256, 512))

    @unittest.skipIf(find_spec("onnxruntime") is None, "onnxruntime is not installed")
    def test_onnx_runtime_computes_what_torch_computes(self):
        import onnxruntime

        session = onnxruntime.InferenceSession(str(self.out / "face-parsing.onnx"), providers=["CPUExecutionProvider"])
        (classes,) = session.run(None, {"image": self.image.numpy()})
        self.assertLess(float((torch.from_numpy(classes) != self.classes).float().mean()), 1e-4)


if __name__ == "__main__":
    unittest.main()
