import { encodeGraph } from './encode-graph';
import { type Graph } from './graph';
import { WireWriter } from './wire-writer';

/** What ONNX Runtime 1.17 and later accept, on CPU and CUDA alike. */
export const OPSET_VERSION = 21;
export const IR_VERSION = 10;

/** A complete .onnx file: ModelProto with the standard operator set. */
export function encodeModel(graph: Graph): Uint8Array {
  return new WireWriter()
    .varintField(1, IR_VERSION)
    .stringField(2, 'lipsync-model-pack')
    .messageField(7, encodeGraph(graph))
    .messageField(8, new WireWriter().stringField(1, '').varintField(2, OPSET_VERSION))
    .finish();
}
