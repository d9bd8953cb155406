import {
  type LatentsyncParams,
  type Pack,
  type ScheduleParams,
  WINDOW_STEPS,
  writePack,
} from '@lipsync/engines';
import { encodeModel, floatTensor, GraphBuilder, modelFile, type Value } from '@lipsync/model-pack';
import { autoencoder, BLOCK, LATENT_CHANNELS } from './autoencoder';
import { audioEncoderModel, audioRole, LICENSE, STATES, WIDTH } from './hearing/audio-encoder';
import { redrawRegion } from './mouth/draw-mouth';
import { EXEMPLAR_FILL, EXEMPLAR_TENSORS, exemplarInputs } from './mouth/exemplars';
import { type Region } from './mouth/face-axes';
import { mouthPose } from './mouth/mouth-pose';
import { isLate, predict, predictionFactors } from './prediction';

/**
 * Writes the built-in reference pack for the latentsync engine: graphs made of formulas, except for hearing,
 * with the roles, the dataflow and the schedule of the official ones. `resolution` is the side of the aligned faces in
 * pixels; the official weights exist for 256 and for 512.
 */
export async function writeLatentsyncPack(dir: string, resolution: number = RESOLUTION): Promise<Pack> {
  const { models: codecModels, roles: codecRoles, latent } = autoencoder(resolution);
  const side = resolution / BLOCK;
  const models = {
    ...codecModels,
    'whisper-encoder.onnx': audioEncoderModel(),
    'unet3d.onnx': unet3dModel(SCHEDULE, GUIDANCE, resolution),
  };
  return writePack(
    dir,
    {
      format: 1,
      engine: 'latentsync',
      name: 'builtin-latentsync',
      version: '1.1.0',
      license: LICENSE,
      providers: ['cpu'],
      roles: {
        whisper_encoder: audioRole('whisper-encoder.onnx', models['whisper-encoder.onnx']),
        ...codecRoles,
        unet3d: {
          ...modelFile('unet3d.onnx', models['unet3d.onnx']),
          inputs: {
            latent: floatTensor('latent', [1, INPUT_CHANNELS, 'frames', side, side]),
            timestep: { name: 'timestep', dtype: 'int64', dims: [1] },
            audio: floatTensor('audio', ['frames', WINDOW_STEPS * STATES, WIDTH]),
            landmarks: floatTensor('landmarks', ['frames', 68, 2], [0, resolution]),
            ...EXEMPLAR_TENSORS,
          },
          outputs: {
            prediction: floatTensor('prediction', [1, LATENT_CHANNELS, 'frames', side, side]),
          },
          probe: probe(resolution),
        },
      },
      params: {
        resolution,
        latent,
        audio: { whisper: 'openai', states: STATES, width: WIDTH },
        window: WINDOW,
        schedule: SCHEDULE,
        guidance: GUIDANCE,
        seed: SEED,
        mask: faceMask(),
      },
    },
    models,
  );
}

/** Landmarks that all lie in one point mean no face: the clean latent must be the reference unchanged. */
function probe(resolution: number) {
  const [value, step] = [0.1, 201];
  const { noisy, clean } = predictionFactors(SCHEDULE);
  const prediction = value * ((noisy[step] ?? NaN) + (clean[step] ?? NaN) / GUIDANCE);
  return {
    dims: { frames: 2 },
    fill: { latent: value, timestep: step, audio: 0.5, landmarks: resolution / 2, ...EXEMPLAR_FILL },
    means: { prediction },
    tolerance: 1e-4,
  };
}

/** Side of the aligned face, pixels: between those of the official weights, so that large faces stay sharp. */
export const RESOLUTION = 384;
/** Frames per window. */
const WINDOW = 16;
export const GUIDANCE = 1.5;
const SEED = 1247;

/**
 * The schedule of the official weights (bytedance/LatentSync, configs/scheduler_config.json), except for the number of
 * steps.
 */
export const SCHEDULE: ScheduleParams = {
  trainSteps: 1000,
  betaStart: 0.00085,
  betaEnd: 0.012,
  betaSchedule: 'scaled_linear',
  prediction: 'epsilon',
  spacing: 'leading',
  stepsOffset: 1,
  finalAlpha: 'first',
  zeroTerminalSnr: false,
  steps: 4,
};

/** Lower edges of the face as [row, first column, last column]. The outline runs straight between them. */
const OUTLINE = [
  [128, 9, 247],
  [134, 9, 247],
  [135, 10, 246],
  [170, 12, 243],
  [176, 16, 240],
  [184, 20, 235],
  [192, 26, 230],
  [200, 33, 223],
  [208, 40, 216],
  [216, 51, 207],
  [224, 64, 196],
  [232, 80, 180],
  [240, 104, 160],
  [242, 131, 152],
] as const;

/** Both cheeks are generated. The nose between them stays. */
const CHEEKS = { top: 95, bottom: 127, left: [9, 77], right: [178, 246] } as const;

/** The generated part of an aligned face of 256 pixels, like bytedance/LatentSync's mask. */
export function faceMask(): LatentsyncParams['mask'] {
  const spans: [number, number, number][] = [];
  for (let row = CHEEKS.top; row <= CHEEKS.bottom; row++) {
    spans.push([row, ...CHEEKS.left], [row, ...CHEEKS.right]);
  }
  OUTLINE.forEach(([row, first, last], i) => {
    const [nextRow, nextFirst, nextLast] = OUTLINE[i + 1] ?? [row + 1, first, last];
    for (let at = row; at < nextRow; at++) {
      const between = (from: number, to: number): number =>
        Math.round(from + ((to - from) * (at - row)) / (nextRow - row));
      spans.push([at, between(first, nextFirst), between(last, nextLast)]);
    }
  });
  return { size: 256, spans };
}

/** Noisy, mask, masked and reference. */
export const INPUT_CHANNELS = 3 * LATENT_CHANNELS + 1;
/** Where the mouth can be in an aligned face, as fractions of its side. */
const MOUTH = { top: 14 / 32, bottom: 30 / 32, left: 4 / 32, right: 28 / 32 };

/**
 * Noisy latents with mask, masked and reference latents beside them, timestep, audio windows, landmarks and exemplars →
 * the noise. The clean latents are the reference with the mouth that the audio calls for or, early and without any
 * audio, 0. `resolution` is the side of the aligned faces, pixels.
 */
export function unet3dModel(
  schedule: ScheduleParams,
  guidance: number,
  resolution: number = RESOLUTION,
): Uint8Array {
  const side = resolution / BLOCK;
  const g = new GraphBuilder('noise_of_audio_driven_lips');
  const latent = g.input('latent', 'float32', [1, INPUT_CHANNELS, 'frames', side, side]);
  const timestep = g.input('timestep', 'int64', [1]);
  const audio = g.input('audio', 'float32', ['frames', WINDOW_STEPS * STATES, WIDTH]);
  const faces = { landmarks: g.input('landmarks', 'float32', ['frames', 68, 2]), ...exemplarInputs(g) };

  const films = g.op('Squeeze', [latent, g.ints([0])]);
  const film = (channel: number): Value =>
    g.op('Slice', [films, g.ints([channel]), g.ints([channel + LATENT_CHANNELS]), g.ints([0])]);
  const prediction = predict(g, timestep, predictionFactors(schedule), guidance);
  const unconditional = prediction.ofNoisy(film(0));
  const conditional = (): Value => {
    const reference = { latents: film(INPUT_CHANNELS - LATENT_CHANNELS), side };
    const clean = redrawRegion(g, reference, faces, mouthPose(g, audio, 'none'), region(side));
    return g.op('Add', [unconditional, prediction.ofClean(clean)]);
  };
  const loudest = g.op('ReduceMax', [g.op('Abs', [audio])], { keepdims: 0 });
  const isHeard = g.op('Greater', [loudest, 0]);
  const predicted = g.choose(
    g.op('And', [isHeard, isLate(g, timestep, schedule)]),
    { dtype: 'float32', dims: [LATENT_CHANNELS, 'frames', side, side] },
    conditional,
    () => unconditional,
  );
  g.output('prediction', g.op('Unsqueeze', [predicted, g.ints([0])]), 'float32', [
    1,
    LATENT_CHANNELS,
    'frames',
    side,
    side,
  ]);
  return encodeModel(g.build());
}

function region(side: number): Region {
  const { top, bottom, left, right } = MOUTH;
  return { top: top * side, bottom: bottom * side, left: left * side, right: right * side };
}
