import { VOICE_CONTEXT, VOICE_STATE, VOICE_STEP } from '@lipsync/engines';
import { decodeConstants, type Graph, GraphBuilder, PackError, type Value } from '@lipsync/model-pack';

/** Samples in one frame of the network's spectrogram, and from one frame to the next. */
const FRAME = 256;
const HOP = 128;
/** Samples mirrored at the end of a step. */
const MIRRORED = 64;
/** Frequencies of the spectrogram. */
const BINS = FRAME / 2 + 1;
/** Values in the network's memory. */
const HIDDEN = 128;

/** The convolutions that turn the spectrogram of a step, four frames, into HIDDEN values. */
const LAYERS = [
  { inputs: BINS, outputs: 128, stride: 1 },
  { inputs: 128, outputs: 64, stride: 2 },
  { inputs: 64, outputs: 64, stride: 2 },
  { inputs: 64, outputs: HIDDEN, stride: 1 },
] as const;

/**
 * Silero's voice activity detector for 16 kHz. sound [64 + 512·n] (the step before ends with the first 64 samples) and
 * state [2, 1, 128] → voice [n], the probability that a step of 32 ms holds a voice, and the state after the last of
 * them. The published graph takes one step per run. Here a run takes any number, with the same weights and results.
 *
 * @param file the published .onnx file. Throws PackError if it is another network.
 */
export function sileroVoice(file: Uint8Array): Graph {
  const weightsOf = sileroWeights(file);
  const g = new GraphBuilder('silero_voice');
  const sound = g.input('sound', 'float32', ['samples']);
  const state = g.input('state', 'float32', [...VOICE_STATE]);

  // [n, HIDDEN, 1], all steps at once.
  const seen = LAYERS.reduce<Value>(
    (value, { inputs, outputs, stride }, i) => {
      const layer = `encoder.${i}.reparam_conv`;
      const kernel = g.weights([outputs, inputs, 3], weightsOf(`${layer}.weight`));
      const bias = g.weights([outputs], weightsOf(`${layer}.bias`));
      return g.op('Relu', [g.op('Conv', [value, kernel, bias], { strides: [stride], pads: [1, 1] })]);
    },
    spectrogram(g, steps(g, sound), weightsOf('stft.forward_basis_buffer')),
  );

  const gates = (name: string): Float32Array => gatesInOrder(weightsOf(`decoder.rnn.${name}`));
  const matrix = (name: string): Value => g.weights([1, 4 * HIDDEN, HIDDEN], gates(name));
  const bias = g.weights([1, 8 * HIDDEN], [...gates('bias_ih'), ...gates('bias_hh')]);
  const memory = g.split(state, [1, 1], 0);
  const [all, hidden, cell] = g.several(
    'LSTM',
    [
      g.op('Transpose', [seen], { perm: [0, 2, 1] }),
      matrix('weight_ih'),
      matrix('weight_hh'),
      bias,
      null,
      ...memory,
    ],
    ['after every step', 'hidden', 'cell'],
    { hidden_size: HIDDEN },
  );
  const weights = g.weights([HIDDEN, 1], weightsOf('decoder.decoder.2.weight'));
  const remembered = g.op('Relu', [g.op('Reshape', [all, g.ints([-1, HIDDEN])])]);
  const score = g.op('Gemm', [remembered, weights, g.weights([1], weightsOf('decoder.decoder.2.bias'))]);
  g.output('voice', g.op('Reshape', [g.op('Sigmoid', [score]), g.ints([-1])]), 'float32', ['steps']);
  g.output('next', g.op('Concat', [hidden, cell], { axis: 0 }), 'float32', [...VOICE_STATE]);
  return g.build();
}

/** [64 + 512·n] → [n, 576]: every step with the end of the one before. */
function steps(g: GraphBuilder, sound: Value): Value {
  const rows = (from: number, to: number): Value =>
    g.op('Reshape', [g.op('Slice', [sound, g.ints([from]), g.ints([to])]), g.ints([-1, VOICE_STEP])]);
  const before = g.op('Slice', [rows(0, -VOICE_CONTEXT), g.ints([0]), g.ints([VOICE_CONTEXT]), g.ints([1])]);
  return g.op('Concat', [before, rows(VOICE_CONTEXT, Number.MAX_SAFE_INTEGER)], { axis: 1 });
}

/** [n, 576] → [n, BINS, 4]: the size of the Fourier coefficients of four frames, by a convolution with their waves. */
function spectrogram(g: GraphBuilder, step: Value, waves: Float32Array): Value {
  const padded = g.op('Pad', [step, g.ints([0, 0, 0, MIRRORED])], { mode: 'reflect' });
  const coefficients = g.op(
    'Conv',
    [g.op('Unsqueeze', [padded, g.ints([1])]), g.weights([2 * BINS, 1, FRAME], waves)],
    { strides: [HOP] },
  );
  const [re, im] = g.split(coefficients, [BINS, BINS], 1);
  return g.op('Sqrt', [g.op('Add', [g.op('Mul', [re, re]), g.op('Mul', [im, im])])]);
}

/** From PyTorch's order of an LSTM's gates (input, forget, cell, output) to that of ONNX: input, output, forget, cell. */
function gatesInOrder(rows: Float32Array): Float32Array {
  const size = rows.length / 4;
  const gate = (place: number): Float32Array => rows.subarray(place * size, (place + 1) * size);
  const ordered = new Float32Array(rows.length);
  [0, 3, 1, 2].forEach((place, i) => ordered.set(gate(place), i * size));
  return ordered;
}

/** The weights in the published graph, which has two networks: the branch is the one for its higher sample rate. */
function sileroWeights(file: Uint8Array): (name: string) => Float32Array {
  const constants = decodeConstants(file);
  return (name) => {
    const found = constants.get(`If_0_then_branch__Inline_0__${name}`);
    if (!found) throw new PackError('manifest_invalid', `Silero's detector: there is no ${name}`);
    return found;
  };
}
