import type * as OnnxRuntime from 'onnxruntime-node';

/** ONNX Runtime in this process, told not to report sessions to its maker. Loaded only by commands that run a graph. */
export async function onnxRuntime(): Promise<typeof OnnxRuntime> {
  process.env['ORT_DISABLE_TELEMETRY'] = '1';
  return import('onnxruntime-node');
}
