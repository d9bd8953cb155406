import { type Affine, createAlignedCrop, createAlignedPaste } from '@lipsync/kernels';
import { type LipSyncEngine } from '../engine';
import { asksForExemplars } from '../exemplar-inputs';
import { type FaceTrack } from '../face/face-track';
import { LANDMARK_VALUES } from '../face/landmarks';
import { mouthsAt } from '../face/mouth-exemplars';
import { connectedRuns, faceRuns, type Run } from '../face/smoothing';
import { mapConcurrently } from '../in-order';
import { createDecodeLatents, createFrameEncoder, piecesOf } from '../latents';
import { createArrayPool, createCallRole, type RunModel } from '../model';
import { choosePace, generatedInPlayback } from '../pace';
import { createPacedClip } from '../paced-clip';
import { type Pack } from '../packs';
import { USUAL_RATES } from '../params';
import { encodeSpeech } from '../speech/speech-features';
import { createDenoiseWindow, createWindowInput } from './denoise-window';
import { createFaceEncoding, createFaceWindows, latentLayout } from './face-window';
import { alignedFaces, enlargementAt, transformAt } from './faces';
import { type LatentsyncManifest } from './manifest';
import { boundsOf, inpaintMask, latentKeepMask, softMask } from './mask';

/** Spare arrays per length: the crops of one window, or its latents and the encoder's output for two faces. */
const SPARES = 20;

/**
 * LatentSync (https://github.com/bytedance/LatentSync, arXiv 2412.09262): inpaints the lower part of an aligned face in
 * latent space, 16 frames of one shot together, conditioned on 200 ms of sound around each.
 *
 * The published code pastes the kept part of the crop around the generated part, and then the whole crop back into the
 * frame. Here only the generated part is pasted: its surroundings are the frame's own pixels.
 */
export function createLatentsync({ manifest }: Pack<LatentsyncManifest>, run: RunModel) {
  const { params } = manifest;
  const { resolution: side, batch = 1 } = params;
  const plane = params.latent.height * params.latent.width;
  const pool = createArrayPool(SPARES);
  const call = createCallRole(run, pool);
  const features = latentLayout(params.latent);
  const inpaint = inpaintMask(params.mask, side);
  const soft = softMask(inpaint, side);
  const encoding = createFaceEncoding(params, inpaint, call, pool);
  const inputOf = createWindowInput(manifest, latentKeepMask(inpaint, side, params.latent), pool);
  const denoise = createDenoiseWindow(manifest, run, pool);
  const decode = createDecodeLatents(params.latent, batch, call, pool);
  const stride = { rates: params.rates ?? USUAL_RATES, together: params.window };

  return {
    features,
    wantsExemplars: asksForExemplars(manifest.roles.unet3d),

    openEncoder({ track, format, features: kept }) {
      const transforms = alignedFaces(track, side);
      const crop = createAlignedCrop(format, side);
      const runsOf = (sources: readonly number[]): Run[] => outputRuns(sources, track, transforms);
      const generated = generatedInPlayback(track, runsOf, stride);
      return createFrameEncoder({
        ...encoding,
        isMissing: (source) => generated.has(source) && !kept.has(source),
        cut(frame, source) {
          const cropped = pool.take(3 * side * side);
          crop(frame, shownAt(transforms, source), cropped, 0);
          return cropped;
        },
        keep(source, latents) {
          kept.write(source, latents, 0);
          pool.give(latents);
        },
      });
    },

    open(clip) {
      const { track, sources, format, signal } = clip;
      const transforms = alignedFaces(track, side);
      const transformOf = (source: number): Affine => shownAt(transforms, source);
      const pace = choosePace(clip, outputRuns(sources, track, transforms), stride);
      const audio = encodeSpeech(clip, params.audio, 'repeat', run);
      const paste = createAlignedPaste(format, side, soft);
      const newWindow = createFaceWindows({
        clip,
        params,
        pool,
        pace,
        transformOf,
        crop: createAlignedCrop(format, side),
        encoding,
        async generate(window, count) {
          const input = inputOf(window.map(({ latents }) => latents));
          const seconds = window.map(({ instant }) => instant.seconds);
          const heard = await audio.load(Math.min(...seconds), Math.max(...seconds));
          // All faces of a window are of one shot.
          const mouths = await mouthsAt(clip, window[0]?.instant.source ?? -1);
          const clean = await denoise(
            {
              input,
              writeAudio: (target) =>
                seconds.forEach((second, i) => heard.write(second, target, i * audio.windowSize)),
              writeLandmarks: (target) =>
                window.forEach(({ instant, transform }, i) =>
                  writeLandmarks(track, instant.source, transform, target, i * LANDMARK_VALUES),
                ),
              mouths,
            },
            signal,
          );
          // [C, frames, h, w].
          const channel = window.length * plane;
          const isWanted = (place: number): boolean =>
            place >= window.length - count && window[place]?.instant.shown === true;
          const offsets = [...window.keys()].filter(isWanted).map((place) => place * plane);
          const decodeSome = (some: readonly number[]) => decode(clean, some, channel);
          return (await mapConcurrently(piecesOf(offsets, batch), decodeSome, signal)).flat();
        },
      });
      return createPacedClip(pace, sources, {
        batchSize: params.window,
        side,
        shown: boundsOf(soft, side),
        newBatch: newWindow,
        paste: (frame, source, image) => paste(frame, transformOf(source), image, 0),
        enlargement: (source) => enlargementAt(transforms, source),
        give: (image) => pool.give(image),
        close: () => audio.ended(),
      });
    },
  } satisfies LipSyncEngine;
}

/** The transform of a source frame that shows a face. */
function shownAt(transforms: Float32Array, source: number): Affine {
  const transform = transformAt(transforms, source);
  if (transform === null) throw new RangeError(`frame ${source} shows no face`);
  return transform;
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

/**
 * The runs of output frames whose faces may be generated together. A run ends where the face is lost, at a cut, and where
 * the timeline restarts; it continues through a reversal.
 */
function outputRuns(
  sources: readonly number[],
  { frames, cuts }: FaceTrack,
  transforms: Float32Array,
): Run[] {
  const hasFace = (source: number): boolean => transformAt(transforms, source) !== null;
  const present = Uint8Array.from({ length: frames }, (_, source) => (hasFace(source) ? 1 : 0));
  const shots = new Int32Array(frames).fill(-1);
  faceRuns(present, cuts).forEach(({ start, end }, shot) => shots.fill(shot, start, end));

  const sourceOf = (output: number): number => sources[output] ?? -1;
  const shotOf = (output: number): number => shots[sourceOf(output)] ?? -1;
  return connectedRuns(
    sources.length,
    (output) => shotOf(output) >= 0,
    (output) => shotOf(output) === shotOf(output - 1) && sourceOf(output) >= sourceOf(output - 1) - 1,
  );
}
