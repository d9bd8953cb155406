import { encodeModel, GraphBuilder, modelFile, type Value } from '@lipsync/model-pack';
import { MEL_BANDS, melEdges, SEGMENT_FRAMES } from '../speech/log-mel';
import { type Arithmetic, arithmetic, floatTensor } from './arithmetic';

/** Frequency bands of the voice in Hz, with soft edges, and what their energy says about the mouth. */
const BANDS = [
  { name: 'jaw', low: 300, high: 1400 }, // first formant: rises as the jaw opens; leaves out hum and nasals
  { name: 'voice', low: 120, high: 3500 }, // everything voiced
  { name: 'back', low: 400, high: 1100 }, // both lower formants of o and u
  { name: 'front', low: 1700, high: 3200 }, // second formant of i and e
] as const;

/** Loudness (root of the band energy) that counts as loud even if everything is quieter: a vowel at −45 dB. */
const FAINTEST = 0.12;
/** Half the width of the window that defines what is loud, in steps of 20 ms. */
const REACH = 150;

/**
 * log-mel spectrogram [1, 80, 3000] → hidden states [1, 1500, 5, 384], local in time: state 0 repeats the spectrogram
 * (two frames per step), state 1 starts with the cues that the generator uses.
 */
export function audioEncoderModel(): Uint8Array {
  const g = new GraphBuilder('speech_cues');
  const m = arithmetic(g);
  const mel = g.input('mel', 'float32', [1, MEL_BANDS, SEGMENT_FRAMES]);
  const cues = speechCues(g, m, mel);
  // Two frames of 10 ms side by side: [1, 80, 1500, 2] → [1, 1500, 160].
  const paired = g.op('Reshape', [mel, g.ints([1, MEL_BANDS, STEPS, 2])]);
  const spectrum = g.op('Reshape', [
    g.op('Transpose', [paired], { perm: [0, 2, 3, 1] }),
    g.ints([1, STEPS, 1, 2 * MEL_BANDS]),
  ]);
  const padded = (value: Value, width: number): Value =>
    g.op('Pad', [value, g.ints([0, 0, 0, 0, 0, 0, 0, WIDTH - width])]);
  const cueState = g.op('Reshape', [
    g.op('Transpose', [cues], { perm: [0, 2, 1] }),
    g.ints([1, STEPS, 1, CUES.length]),
  ]);
  // State by state: the spectrogram, the cues, and zeros in the others.
  const told = g.op('Concat', [padded(spectrum, 2 * MEL_BANDS), padded(cueState, CUES.length)], { axis: 2 });
  const states = g.op('Pad', [told, g.ints([0, 0, 0, 0, 0, 0, STATES - CUE_STATE - 1, 0])]);
  g.output('states', states, 'float32', [1, STEPS, STATES, WIDTH]);
  return encodeModel(g.build());
}

/** [1, 3, 1500], each in [0, 1]. */
function speechCues(g: GraphBuilder, m: Arithmetic, mel: Value): Value {
  // Spectrograms may be padded with zeros, which would count as energy. Padding is 0 in every band at once.
  const sounding = g.op('Sign', [g.op('ReduceMax', [g.op('Abs', [mel]), g.ints([1])])]);
  const energy = m.mul(g.op('Exp', [m.mul(m.sub(m.mul(mel, 4), 4), Math.LN10)]), sounding);
  const inBands = g.op('MatMul', [g.weights([BANDS.length, MEL_BANDS], bandWeights()), energy]);
  const perStep = g.op('AveragePool', [inBands], { kernel_shape: [2], strides: [2] });
  const [jaw, voice, back, front] = g.split(g.op('Sqrt', [perStep]), [1, 1, 1, 1], 1);

  const loudness = m.add(m.mul(jaw, 0.7), m.mul(voice, 0.3));
  const nearby = (value: Value): Value =>
    averaged(g, g.op('MaxPool', [value], { kernel_shape: [2 * REACH + 1], pads: [REACH, REACH] }), REACH);
  const loud = m.max(nearby(loudness), FAINTEST);
  // Steady noise is what never stops nearby. A steady voice must not silence itself, hence the limit.
  const noise = m.min(m.mul(nearby(m.mul(loudness, -1)), -1.2), m.mul(loud, 0.5));
  const relative = m.clamp(m.div(m.sub(loudness, noise), m.sub(loud, noise)), 0, 1);
  const opening = m.ramp(g.op('Pow', [relative, 0.6]), 0.16, 0.95);

  const tilt = m.div(m.sub(front, m.mul(back, 0.25)), m.add(front, m.mul(back, 0.25), FAINTEST / 10));
  const voiced = m.ramp(relative, 0.05, 0.2);
  const rounding = m.mul(m.ramp(m.mul(tilt, -1), 0.1, 0.8), voiced);
  const spreading = m.mul(m.ramp(tilt, 0, 0.6), voiced);
  const none = m.mul(opening, 0);
  return g.op('Concat', [none, opening, rounding, spreading, none], { axis: 1 });
}

function averaged(g: GraphBuilder, value: Value, reach: number): Value {
  return g.op('AveragePool', [value], {
    kernel_shape: [2 * reach + 1],
    pads: [reach, reach],
    count_include_pad: 0,
  });
}

/** Energy per band. Mel filters are normalized to unit area, so each counts with its width. */
function bandWeights(): Float32Array {
  const edges = melEdges();
  return Float32Array.from({ length: BANDS.length * MEL_BANDS }, (_, i) => {
    const band = BANDS[Math.floor(i / MEL_BANDS)];
    const [from = 0, center = 0, to = 0] = edges.slice(i % MEL_BANDS, (i % MEL_BANDS) + 3);
    if (band === undefined) return 0;
    const inside = Math.min((center - band.low) / 100, (band.high - center) / 200, 1);
    return (Math.max(0, inside) * (to - from)) / 80;
  });
}

/** The `whisper_encoder` of a manifest for a pack that stores the built-in audio encoder as `file`. */
export function audioRole(file: string, model: Uint8Array) {
  return {
    ...modelFile(file, model),
    inputs: { mel: floatTensor('mel', [1, MEL_BANDS, SEGMENT_FRAMES], [-1.5, 1.5]) },
    outputs: { states: floatTensor('states', [1, STEPS, STATES, WIDTH]) },
    probe: { dims: {}, fill: { mel: 0.5 }, means: { states: 0.0427 }, tolerance: 1e-3 },
  };
}

/**
 * Where the built-in audio encoder puts what the built-in generator reads. The other channels of the hidden states hold
 * the spectrogram itself (state 0) and zeros.
 */
export const STATES = 5;
export const WIDTH = 384;
export const STEPS = 1500;
/** The hidden state (of 5 per step) whose first channels are the cues below. */
export const CUE_STATE = 1;
/** opening: how far the jaw is down; rounding: lips drawn together (o, u); spreading: corners apart (i, e). */
export const CUES = ['closure', 'jaw', 'rounding', 'spreading', 'dental'] as const;
