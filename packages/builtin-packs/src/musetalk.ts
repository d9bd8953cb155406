import { type Pack, WINDOW_STEPS, writePack } from '@lipsync/engines';
import { encodeModel, floatTensor, GraphBuilder, modelFile } from '@lipsync/model-pack';
import { autoencoder, BLOCK, LATENT_CHANNELS } from './autoencoder';
import { audioEncoderModel, audioRole, LICENSE, STATES, WIDTH } from './hearing/audio-encoder';
import { drawMouth } from './mouth/draw-mouth';
import { EXEMPLAR_FILL, EXEMPLAR_TENSORS, exemplarInputs } from './mouth/exemplars';
import { mouthPose } from './mouth/mouth-pose';

/**
 * Writes the built-in reference pack for the musetalk engine: graphs made of formulas, except for hearing, with
 * the roles, tensors and dataflow of the official ones.
 */
export async function writeMusetalkPack(dir: string): Promise<Pack> {
  const { models: codecModels, roles: codecRoles, latent } = autoencoder(RESOLUTION);
  const models = {
    ...codecModels,
    'whisper-encoder.onnx': audioEncoderModel(),
    'unet.onnx': generatorModel(),
  };
  return writePack(
    dir,
    {
      format: 1,
      engine: 'musetalk',
      name: 'builtin-musetalk',
      version: '1.2.0',
      license: LICENSE,
      providers: ['cpu'],
      roles: {
        whisper_encoder: audioRole('whisper-encoder.onnx', models['whisper-encoder.onnx']),
        ...codecRoles,
        unet: {
          ...modelFile('unet.onnx', models['unet.onnx']),
          inputs: {
            latent: floatTensor('latent', ['batch', 2 * LATENT_CHANNELS, LATENT_SIDE, LATENT_SIDE]),
            timestep: { name: 'timestep', dtype: 'int64', dims: [1] },
            audio: floatTensor('audio', ['batch', WINDOW_STEPS * STATES, WIDTH]),
            landmarks: floatTensor('landmarks', ['batch', 68, 2], [0, RESOLUTION]),
            ...EXEMPLAR_TENSORS,
          },
          outputs: {
            latent: floatTensor('clean', ['batch', LATENT_CHANNELS, LATENT_SIDE, LATENT_SIDE]),
          },
          // Landmarks that all lie in one point mean no face: the picture must pass unchanged.
          probe: {
            dims: { batch: 1 },
            fill: { latent: 0.1, audio: 0.5, landmarks: RESOLUTION / 2, ...EXEMPLAR_FILL },
            means: { latent: 0.1 },
            tolerance: 1e-4,
          },
        },
      },
      params: {
        resolution: RESOLUTION,
        latent,
        audio: { whisper: 'hf', states: STATES, width: WIDTH, positionalEncoding: 'outside' },
        timestep: 0,
        batch: 8,
        crop: { shift: 0, margin: 10 },
        mask: { mode: 'jaw', leftCheek: 90, rightCheek: 90, blur: 0.05 },
      },
    },
    models,
  );
}

/** Side of the face crop, pixels: more than the official 256, so that faces of up to 450 pixels stay sharp. */
const RESOLUTION = 320;
const LATENT_SIDE = RESOLUTION / BLOCK;

/**
 * Latents of the masked and of the whole crop, timestep, audio windows, landmarks and exemplars → clean latent: the
 * upper half unchanged, the lower half redrawn with the mouth that the audio calls for. `resolution` is the side of the
 * crop, pixels.
 */
export function generatorModel(resolution: number = RESOLUTION): Uint8Array {
  const side = resolution / BLOCK;
  const half = side / 2;
  const g = new GraphBuilder('audio_driven_lips');
  const latent = g.input('latent', 'float32', ['batch', 2 * LATENT_CHANNELS, side, side]);
  g.input('timestep', 'int64', [1]);
  const audio = g.input('audio', 'float32', ['batch', WINDOW_STEPS * STATES, WIDTH]);
  const faces = { landmarks: g.input('landmarks', 'float32', ['batch', 68, 2]), ...exemplarInputs(g) };

  const part = (channel: number, row: number) =>
    g.op('Slice', [
      latent,
      g.ints([channel, row]),
      g.ints([channel + LATENT_CHANNELS, row + half]),
      g.ints([1, 2]),
    ]);
  const upper = part(0, 0);
  const reference = part(LATENT_CHANNELS, half);
  // Everything below the middle is generated; a mouth and its cheeks can be between the sides.
  const margin = Math.floor(side / 10);
  const region = { top: half, bottom: side, left: margin, right: side - margin };
  const { left, right } = region;
  const [before, middle, after] = g.split(reference, [left, right - left, side - right], 3);
  const drawn = drawMouth(g, middle, faces, mouthPose(g, audio, 'added'), region);
  const lower = g.op('Concat', [before, drawn, after], { axis: 3 });
  g.output('clean', g.op('Concat', [upper, lower], { axis: 2 }), 'float32', [
    'batch',
    LATENT_CHANNELS,
    side,
    side,
  ]);
  return encodeModel(g.build());
}
