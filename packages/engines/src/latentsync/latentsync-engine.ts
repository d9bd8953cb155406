import { type Affine, createAlignedCrop, createAlignedPaste } from '@lipsync/kernels';
import { createArrayPool } from '../array-pool';
import { createCallRole } from '../call-role';
import { createDecodeLatent } from '../decode-latent';
import { type LipSyncEngine } from '../engine';
import { type FaceTrack } from '../face/face-track';
import { LANDMARK_VALUES } from '../face/landmarks68';
import { createFrameEncoder } from '../frame-encoder';
import { mapConcurrently } from '../map-concurrently';
import { type Pack } from '../packs';
import { type RunModel } from '../run-model';
import { hearSpeech } from '../speech/hear-speech';
import { alignedFaces, enlargementAt, transformAt } from './aligned-faces';
import { createDenoiseWindow } from './denoise-window';
import { createEncodeFace, latentLayout } from './face-latents';
import { inpaintMask, latentKeepMask } from './inpaint-mask';
import { createLatentsyncClip } from './latentsync-clip';
import { type LatentsyncManifest } from './latentsync-manifest';
import { outputStretches } from './output-stretches';
import { softMask } from './soft-mask';

type Floats = Float32Array<ArrayBuffer>;

/** Spare arrays per length: the crops of one window, or its latents and the encoder's output for two faces. */
const SPARES = 20;

/**
 * LatentSync (https://github.com/bytedance/LatentSync, arXiv 2412.09262): inpaints the lower part of an aligned face in
 * latent space, up to 16 frames of one shot together, conditioned on 200 ms of sound around each.
 *
 * The published code pastes the kept part of the crop around the generated part, and then the whole crop back into the
 * frame. Here only the generated part is pasted: its surroundings are the frame's own pixels.
 */
export function createLatentsync({ manifest }: Pack<LatentsyncManifest>, run: RunModel) {
  const { params } = manifest;
  const { resolution: side, window } = params;
  const plane = params.latent.height * params.latent.width;
  const pool = createArrayPool(SPARES);
  const call = createCallRole(run, pool);
  const features = latentLayout(params.latent);
  const inpaint = inpaintMask(params.mask, side);
  const soft = softMask(inpaint, side);
  const encode = createEncodeFace(params, inpaint, call, pool);
  const denoise = createDenoiseWindow(manifest, latentKeepMask(inpaint, side, params.latent), run, pool);
  const decode = createDecodeLatent(params.latent, call, pool);
  const newCrop = (): Floats => pool.take(3 * side * side);

  return {
    features,

    openEncoder({ track, format, features: kept }) {
      const transforms = alignedFaces(track, side);
      const crop = createAlignedCrop(format, side);
      return createFrameEncoder({
        isMissing: (source) => transformAt(transforms, source) !== null && !kept.has(source),
        encode(frame, source) {
          const transform = transformAt(transforms, source);
          if (transform === null) throw new RangeError(`frame ${source} shows no face`);
          const cropped = newCrop();
          crop(frame, transform, cropped, 0);
          return encode(cropped);
        },
        keep(source, latents) {
          kept.write(source, latents, 0);
          pool.give(latents);
        },
      });
    },

    async open(clip) {
      const { track, sources, format, signal } = clip;
      const transforms = alignedFaces(track, side);
      const transformOf = (source: number): Affine | null => transformAt(transforms, source);
      const stretches = outputStretches(sources, track, (source) => transformOf(source) !== null);
      const audio = await hearSpeech(clip, params.audio, 'repeat', run);
      return createLatentsyncClip(clip, {
        window,
        stretchOf: (output) => stretches[output] ?? -1,
        transformOf,
        enlargementOf: (source) => enlargementAt(transforms, source),
        crop: createAlignedCrop(format, side),
        paste: createAlignedPaste(format, side, soft),
        newCrop,
        newLatents: () => pool.take(features.values),
        give: (array) => pool.give(array),
        encode,
        async generate(faces, latents) {
          const outputs = faces.map(({ output }) => output);
          const heard = await audio.load(outputs[0] ?? 0, outputs.at(-1) ?? 0);
          const clean = await denoise(
            {
              latents,
              writeAudio: (target) =>
                outputs.forEach((output, i) => heard.write(output, target, i * audio.windowSize)),
              writeLandmarks: (target) =>
                faces.forEach(({ source, transform }, i) =>
                  writeLandmarks(track, source, transform, target, i * LANDMARK_VALUES),
                ),
            },
            signal,
          );
          // [C, frames, h, w].
          const stride = faces.length * plane;
          return mapConcurrently(faces, (_, frame) => decode(clean, frame * plane, stride), signal);
        },
      });
    },
  } satisfies LipSyncEngine;
}

/** Writes a source frame's landmarks in pixels of its crop. */
function writeLandmarks(
  { landmarks }: FaceTrack,
  source: number,
  { a, b, c, d, e, f }: Affine,
  target: Float32Array,
  offset: number,
): void {
  for (let i = 0; i < LANDMARK_VALUES; i += 2) {
    const x = landmarks[source * LANDMARK_VALUES + i] ?? 0;
    const y = landmarks[source * LANDMARK_VALUES + i + 1] ?? 0;
    target[offset + i] = a * x + b * y + c;
    target[offset + i + 1] = d * x + e * y + f;
  }
}
