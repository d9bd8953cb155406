import { CUES, MEL_BANDS, SEGMENT_FRAMES } from '@lipsync/engines';
import {
  type Attribute,
  encodeModel,
  floatTensor,
  GraphBuilder,
  modelFile,
  type Value,
} from '@lipsync/model-pack';
import { type Arithmetic, arithmetic } from '../arithmetic';
import { type HearingWeights, readHearingWeights } from './weights';

/** Log10 of the power that counts as loud even if everything is quieter: a vowel at −45 dB. */
const FAINTEST = -2.5;
/** Orders of magnitude below what is loud (50 dB) that the network sees. */
const DEPTH = 5;
/** Half the width of the window that defines what is loud, in steps of 20 ms. */
const REACH = 125;
/** Log10 of the power in silence. */
const SILENCE = -10;

/**
 * log-mel spectrogram [1, 80, 3000] → hidden states [1, 1500, 5, 384], local in time: state 0 repeats the spectrogram
 * (two frames per step), state 1 starts with the cues that the generator uses.
 */
export function audioEncoderModel(): Uint8Array {
  const g = new GraphBuilder('speech_cues');
  const m = arithmetic(g);
  const mel = g.input('mel', 'float32', [1, MEL_BANDS, SEGMENT_FRAMES]);
  const cues = speechCues(g, m, mel, readHearingWeights());
  // Two frames of 10 ms side by side: [1, 80, 1500, 2] → [1, 1500, 160].
  const paired = g.op('Reshape', [mel, g.ints([1, MEL_BANDS, STEPS, 2])]);
  const spectrum = g.op('Reshape', [
    g.op('Transpose', [paired], { perm: [0, 2, 3, 1] }),
    g.ints([1, STEPS, 1, 2 * MEL_BANDS]),
  ]);
  const padded = (value: Value, width: number): Value =>
    g.op('Pad', [value, g.ints([0, 0, 0, 0, 0, 0, 0, WIDTH - width])]);
  const cueState = g.op('Unsqueeze', [cues, g.ints([2])]);
  // State by state: the spectrogram, the cues, and zeros in the others.
  const told = g.op('Concat', [padded(spectrum, 2 * MEL_BANDS), padded(cueState, CUES.length)], { axis: 2 });
  const states = g.op('Pad', [told, g.ints([0, 0, 0, 0, 0, 0, STATES - CUE_STATE - 1, 0])]);
  g.output('states', states, 'float32', [1, STEPS, STATES, WIDTH]);
  return encodeModel(g.build());
}

/** log-mel spectrogram [1, 80, 3000] → the cues alone [1, 1500, 5]: what the analyzer hears in a source. */
export function hearingModel(): Uint8Array {
  const g = new GraphBuilder('hearing');
  const mel = g.input('mel', 'float32', [1, MEL_BANDS, SEGMENT_FRAMES]);
  const cues = speechCues(g, arithmetic(g), mel, readHearingWeights());
  g.output('cues', cues, 'float32', [1, STEPS, CUES.length]);
  return encodeModel(g.build());
}

/**
 * [1, 1500, 5], each in [0, 1]: a small network that the project trained itself. Its input here and in its training
 * (scripts/export/articulation/spectrogram.py) is the spectrogram relative to what is loud nearby.
 */
function speechCues(g: GraphBuilder, m: Arithmetic, mel: Value, weights: HearingWeights): Value {
  // Spectrograms may be padded with zeros, which would count as energy. Padding is 0 in every band at once.
  const sounding = g.op('Sign', [g.op('ReduceMax', [g.op('Abs', [mel]), g.ints([1])])]);
  const power = m.add(m.mul(m.sub(m.mul(mel, 4), 4 + SILENCE), sounding), SILENCE);
  const level = g.op('MaxPool', [g.op('ReduceMax', [power, g.ints([1])])], {
    kernel_shape: [2],
    strides: [2],
  });
  const loud = m.max(averaged(g, loudest(g, level, REACH), REACH), FAINTEST);

  const perStep = g.op('Reshape', [power, g.ints([1, MEL_BANDS, STEPS, 2])]);
  const relative = m.sub(perStep, g.op('Unsqueeze', [loud, g.ints([3])]));
  const heard = m.add(m.mul(m.clamp(relative, -DEPTH, 0), 2 / DEPTH), 1);
  const found = network(g, m, g.op('Reshape', [heard, g.ints([1, MEL_BANDS, SEGMENT_FRAMES])]), weights);
  const bounded = m.max(found, FLOOR);
  const around = m.mul(averaged(g, bounded, AROUND), g.weights([1, CUES.length, 1], COMPARED));
  const outputs = m.sub(bounded, around);

  const { ramps } = weights;
  const slopes = g.weights(
    [1, CUES.length, 1],
    ramps.map(([from, to]) => 1 / (to - from)),
  );
  const starts = g.weights(
    [1, CUES.length, 1],
    ramps.map(([from]) => from),
  );
  const cues = m.clamp(m.mul(m.sub(outputs, starts), slopes), 0, 1);
  // A stop is silent for less than 0.2 s. What is silent for longer, or never loud, is no speech.
  const audible = m.ramp(m.sub(loudest(g, level, 10), loud), -3.5, -2.5);
  return g.op('Transpose', [m.mul(cues, audible)], { perm: [0, 2, 1] });
}

/** Two frames of the spectrogram become one step, then every layer adds what it finds further around. */
function network(g: GraphBuilder, m: Arithmetic, heard: Value, weights: HearingWeights): Value {
  const convolved = (value: Value, name: string, attributes: Readonly<Record<string, Attribute>>): Value => {
    const [weight, bias] = [weights.tensor(`${name}.weight`), weights.tensor(`${name}.bias`)];
    return g.op(
      'Conv',
      [value, g.weights(weight.dims, weight.data), g.weights(bias.dims, bias.data)],
      attributes,
    );
  };
  const first = g.op('Relu', [convolved(heard, '0', { strides: [2], pads: [2, 2] })]);
  const last = DILATIONS.reduce<Value>((value, dilation, i) => {
    const around = { dilations: [dilation], pads: [dilation, dilation] };
    return m.add(value, g.op('Relu', [convolved(value, String(i + 1), around)]));
  }, first);
  return convolved(last, 'last', {});
}

/**
 * Contacts of the lips are short, and how probable the network finds them at all depends on voice and recording. So for
 * closure and dental counts by how much they are more probable than on average around, so many steps before and after.
 */
const AROUND = 6;
const COMPARED = [1, 0, 0, 0, 1];
/** Log odds below which a no is a no. */
const FLOOR = -6;

/** As in scripts/export/articulation/network.py. Together they look half a second back and ahead. */
const DILATIONS = [1, 2, 4, 8, 4, 2, 1];

/** The maximum of `reach` steps on either side. */
function loudest(g: GraphBuilder, value: Value, reach: number): Value {
  return g.op('MaxPool', [value], { kernel_shape: [2 * reach + 1], pads: [reach, reach] });
}

function averaged(g: GraphBuilder, value: Value, reach: number): Value {
  return g.op('AveragePool', [value], {
    kernel_shape: [2 * reach + 1],
    pads: [reach, reach],
    count_include_pad: 0,
  });
}

/** The license of the packs that contain this encoder. */
export const LICENSE = {
  spdx: 'MIT',
  source:
    'Graphs written by this project, with a hearing network that it trained on synthesized speech ' +
    '(packages/builtin-packs/weights/README.md).',
};

/** The `whisper_encoder` of a manifest for a pack that stores the built-in audio encoder as `file`. */
export function audioRole(file: string, model: Uint8Array) {
  return {
    ...modelFile(file, model),
    inputs: { mel: floatTensor('mel', [1, MEL_BANDS, SEGMENT_FRAMES], [-1.5, 1.5]) },
    outputs: { states: floatTensor('states', [1, STEPS, STATES, WIDTH]) },
    probe: { dims: {}, fill: { mel: 0.5 }, means: { states: 0.04167 }, tolerance: 2e-4 },
  };
}

/**
 * Where the built-in audio encoder puts what the built-in generator reads. The other channels of the hidden states hold
 * the spectrogram itself (state 0) and zeros.
 */
export const STATES = 5;
export const WIDTH = 384;
export const STEPS = 1500;
/** The hidden state (of 5 per step) whose first channels are the cues. */
export const CUE_STATE = 1;
