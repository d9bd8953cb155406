import { encodeGraph } from './encode-graph';
import { type Graph } from './graph';
import { WireWriter } from './wire-writer';

/** Accepted by ONNX Runtime 1.17 and later, on CPU and CUDA alike. */
export const OPSET_VERSION = 21;
export const IR_VERSION = 10;

/** Version of operator sets outside ONNX. Those of ONNX Runtime never had another. */
const FOREIGN_VERSION = 1;

/** A complete .onnx file: ModelProto with the standard operator set and the domains that the graph's nodes use. */
export function encodeModel(graph: Graph): Uint8Array {
  const model = new WireWriter()
    .varintField(1, IR_VERSION)
    .stringField(2, 'lipsync-model-pack')
    .messageField(7, encodeGraph(graph))
    .messageField(8, operatorSet('', OPSET_VERSION));
  const domains = new Set(graph.nodes.flatMap(({ domain }) => domain ?? []));
  for (const domain of domains) model.messageField(8, operatorSet(domain, FOREIGN_VERSION));
  return model.finish();
}

function operatorSet(domain: string, version: number): WireWriter {
  return new WireWriter().stringField(1, domain).varintField(2, version);
}
