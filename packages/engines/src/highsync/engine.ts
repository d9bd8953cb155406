import { createPasteFace } from '@lipsync/kernels';
import { type LipSyncEngine } from '../engine';
import { asksForExemplars } from '../exemplar-inputs';
import { boxAt, boxEnlargement, writeCropLandmarks } from '../face/landmarks';
import { mouthsAt } from '../face/mouth-exemplars';
import { type Run } from '../face/smoothing';
import { allEnded } from '../in-order';
import { createDecodeLatents, createFrameEncoder } from '../latents';
import { createArrayPool, createCallRole, type RunModel } from '../model';
import { choosePace, generatedInPlayback } from '../pace';
import { createPacedClip } from '../paced-clip';
import { type Pack } from '../packs';
import { USUAL_RATES } from '../params';
import { encodeSpeech } from '../speech/speech-features';
import { createDenoiseRun } from './denoise-run';
import { highsyncFaces, highsyncRuns } from './faces';
import { createLatentQueue } from './latent-queue';
import { type HighsyncManifest } from './manifest';
import { blendedPart, rectangleBlendMask } from './mask';
import { createPredictWindow } from './predict-window';
import { createReferenceFeeds } from './reference-feeds';
import { cachedLayout, createCachedLatents, createFaceLatents, createSourceLatents } from './source-latents';

type Floats = Float32Array<ArrayBuffer>;

/** Faces that are pasted together while the next ones are decoded. */
const BATCH_SIZE = 4;

/** Spare arrays per length besides the latents of frames: the feeds of two windows, with a bank per transformer block. */
const SPARES = 32;

/**
 * HighSync (https://github.com/saeed5959/high_sync, arXiv 2605.16918): denoises the lower face of a whole run of frames
 * together, through overlapping windows, conditioned on the source frames and on 200 ms of sound around each.
 */
export function createHighsync(
  { manifest }: Pack<HighsyncManifest>,
  run: RunModel,
  /** Memory for banks, in bytes, where the pack feeds them; those that do not fit are recomputed in every step. */
  bankBytes = Infinity,
) {
  const { params } = manifest;
  const { latent, mask, resolution: side } = params;
  const plane = latent.height * latent.width;
  const features = cachedLayout(latent);
  const stride = { rates: params.rates ?? USUAL_RATES, together: BATCH_SIZE };
  // Each clip has its own memory: the banks of two windows are a gigabyte, and the engine outlives the clip.
  const newMemory = () => {
    const pool = createArrayPool(SPARES + 2 * params.stretch);
    return { pool, call: createCallRole(run, pool) };
  };

  return {
    features,
    wantsExemplars: asksForExemplars(manifest.roles.denoising_unet),
    openEncoder({ track, format, features: known }) {
      const { pool, call } = newMemory();
      const faces = highsyncFaces(track);
      const kept = createCachedLatents(features, known, faces);
      const runsOf = (sources: readonly number[]): Run[] => highsyncRuns(sources, faces, track);
      const generated = generatedInPlayback(track, runsOf, stride);
      const { cut, encode } = createFaceLatents(params, faces, format, call, pool);
      return createFrameEncoder({
        together: 1,
        isMissing: (source) => generated.has(source) && kept.find(source) === null,
        cut,
        encode: (images) => Promise.all(images.map(encode)),
        keep(source, latent) {
          kept.keep(source, latent);
          pool.give(latent);
        },
      });
    },
    open(clip) {
      const { track, sources, format, signal } = clip;
      const { pool, call } = newMemory();
      const decode = createDecodeLatents(latent, 1, call, pool);
      const faces = highsyncFaces(track);
      const pace = choosePace(clip, highsyncRuns(sources, faces, track), stride);
      const { instants } = pace;
      const audio = encodeSpeech(clip, params.audio, 'repeat', run);
      const reference = createReferenceFeeds(manifest, call, pool, bankBytes);
      const sourceLatents = createSourceLatents(
        { ...clip, instants },
        createCachedLatents(features, clip.features, faces),
        createFaceLatents(params, faces, format, call, pool),
        pool,
      );
      const given = { reference, mouthsAt: (source: number) => mouthsAt(clip, source) };
      const denoise = createDenoiseRun(params, createPredictWindow(manifest, given, call, pool), pool);
      const lastShown = new Map(instants.map(({ source }, instant) => [source, instant]));
      const writeLandmarks = (source: number, target: Float32Array, offset: number): void =>
        writeCropLandmarks(track.landmarks, source, boxAt(faces.crops, source), side, target, offset);

      // Denoising is ahead of the faces that are decoded, a few at a time.
      const load = async (wanted: Run, stopped: AbortSignal) => {
        const latents = await sourceLatents.hold(wanted, stopped);
        reference.use(latents, (source) => (lastShown.get(source) ?? -1) >= wanted.start);
        const secondsOf = (instant: number): number => instants[instant]?.seconds ?? 0;
        const windows = await audio.load(secondsOf(wanted.start), secondsOf(wanted.end - 1));
        const writeAudio = (instant: number, target: Float32Array, offset: number): void =>
          windows.write(secondsOf(instant), target, offset);
        return { latents, writeAudio, writeLandmarks };
      };
      const queue = createLatentQueue(async function* (stopped) {
        for (const range of pace.runs) yield* denoise({ range, instants, load }, stopped);
      }, signal);

      const blendMask = rectangleBlendMask(mask, latent);
      const pasteFace = createPasteFace(format, side);
      const generate = async (instant: number): Promise<readonly (readonly [number, Floats])[]> => {
        const denoised = await queue.want(instant);
        const shown = instants[instant]?.shown === true;
        const images = shown ? await decode(denoised, [0], plane) : [];
        pool.give(denoised);
        return images.map((image) => [instant, image]);
      };
      return createPacedClip(pace, sources, {
        batchSize: BATCH_SIZE,
        side,
        shown: blendedPart(mask, latent, side),
        newBatch() {
          const taken: number[] = [];
          return {
            take: (_frame, instant) => void taken.push(instant),
            infer: async () => new Map((await allEnded(taken.map(generate))).flat()),
          };
        },
        paste: (frame, source, image) => pasteFace(frame, boxAt(faces.crops, source), image, 0, blendMask),
        enlargement: (source) => boxEnlargement(boxAt(faces.crops, source), side),
        give: (image) => pool.give(image),
        async close() {
          await queue.close();
          await Promise.all([sourceLatents.close(), audio.ended()]);
        },
      });
    },
  } satisfies LipSyncEngine;
}
