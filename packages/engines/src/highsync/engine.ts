import { middleOf } from '@lipsync/domain';
import { type Box, createPasteFace } from '@lipsync/kernels';
import { type LipSyncEngine } from '../engine';
import { asksForExemplars } from '../exemplar-inputs';
import { boxAt, boxEnlargement, writeCropLandmarks } from '../face/landmarks';
import { mouthsAt } from '../face/mouth-exemplars';
import { type Run } from '../face/smoothing';
import { allEnded } from '../in-order';
import { createDecodeLatent, createFrameEncoder } from '../latents';
import { createArrayPool, createCallRole, type RunModel } from '../model';
import { type Pack } from '../packs';
import { encodeSpeech } from '../speech/speech-features';
import { createDenoiseRun } from './denoise-run';
import { BATCH_SIZE, type BatchParts, createLatentQueue, WantedFaces } from './face-batch';
import { highsyncFaces, highsyncRuns } from './faces';
import { type HighsyncManifest } from './manifest';
import { rectangleBlendMask } from './mask';
import { createPredictWindow } from './predict-window';
import { createReferenceFeeds } from './reference-feeds';
import { cachedLayout, createCachedLatents, createFaceLatents, createSourceLatents } from './source-latents';

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
      return createFrameEncoder({
        isMissing: (source) => (faces.shots[source] ?? -1) >= 0 && kept.find(source) === null,
        encode: createFaceLatents(params, faces, format, call, pool),
        keep(source, latent) {
          kept.keep(source, latent);
          pool.give(latent);
        },
      });
    },
    async open(clip) {
      const { track, sources, format, signal } = clip;
      const { pool, call } = newMemory();
      const decode = createDecodeLatent(latent, call, pool);
      const faces = highsyncFaces(track);
      const audio = await encodeSpeech(clip, params.audio, 'repeat', run);
      const reference = createReferenceFeeds(manifest, call, pool, bankBytes);
      const sourceLatents = createSourceLatents(
        clip,
        createCachedLatents(features, clip.features, faces),
        createFaceLatents(params, faces, format, call, pool),
        pool,
      );
      const given = { reference, mouthsAt: (source: number) => mouthsAt(clip, source) };
      const denoise = createDenoiseRun(params, createPredictWindow(manifest, given, call, pool), pool);
      const lastShown = new Map(sources.map((source, output) => [source, output]));
      const writeLandmarks = (source: number, target: Float32Array, offset: number): void =>
        writeCropLandmarks(track.landmarks, source, boxAt(faces.crops, source), side, target, offset);

      // Denoising begins when the first face is needed, and is ahead of the faces that are decoded, a few at a time.
      const runs = highsyncRuns(sources, faces, track);
      const shown = new Uint8Array(sources.length);
      for (const { start, end } of runs) shown.fill(1, start, end);
      const load = async (outputs: Run, stopped: AbortSignal) => {
        const latents = await sourceLatents.hold(outputs, stopped);
        reference.use(latents, (source) => (lastShown.get(source) ?? -1) >= outputs.start);
        const instantOf = (output: number): number => middleOf(clip.clock, output);
        const windows = await audio.load(instantOf(outputs.start), instantOf(outputs.end - 1));
        const writeAudio = (output: number, target: Float32Array, offset: number): void =>
          windows.write(instantOf(output), target, offset);
        return { latents, writeAudio, writeLandmarks };
      };
      const queue = createLatentQueue(async function* (stopped) {
        for (const outputs of runs) yield* denoise({ outputs, sources, load }, stopped);
      }, signal);

      const blendMask = rectangleBlendMask(mask, latent);
      const pasteFace = createPasteFace(format, side);
      const cropOf = (output: number): Box => boxAt(faces.crops, sources[output] ?? -1);
      const parts: BatchParts = {
        pool,
        hasFace: (output) => shown[output] === 1,
        generate: (outputs) =>
          allEnded(
            outputs.map(async (output) => {
              const denoised = await queue.want(output);
              const image = await decode(denoised, 0, plane);
              pool.give(denoised);
              return image;
            }),
          ),
        paste: (frame, output, image) => pasteFace(frame, cropOf(output), image, 0, blendMask),
      };
      return {
        batchSize: BATCH_SIZE,
        newBatch: () => new WantedFaces(parts),
        enlargement: (output) => boxEnlargement(cropOf(output), side),
        async close() {
          await queue.close();
          await sourceLatents.close();
        },
      };
    },
  } satisfies LipSyncEngine;
}
