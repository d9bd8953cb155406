import { type Box, createPasteFace } from '@lipsync/kernels';
import { type LipSyncEngine } from '../engine';
import { boxAt, boxEnlargement, writeCropLandmarks } from '../face/landmarks';
import { cutRuns, type Run } from '../face/smoothing';
import { allOf } from '../in-order';
import { createDecodeLatent, createFrameEncoder } from '../latents';
import { createArrayPool, createCallRole, type RunModel } from '../model';
import { type Pack } from '../packs';
import { encodeSpeech } from '../speech/speech-features';
import { createDenoiseStretch } from './denoise-stretch';
import { BATCH_SIZE, type BatchParts, createStretchQueue, WantedFaces } from './face-batch';
import { highsyncFaces, highsyncRuns } from './faces';
import { type HighsyncManifest } from './manifest';
import { rectangleBlendMask } from './mask';
import { createPredictWindow } from './predict-window';
import { createReferenceFeeds } from './reference-feeds';
import { cachedLayout, createCachedLatents, createFaceLatents, createSourceLatents } from './source-latents';

/** Spare arrays per length besides a stretch's latents: the feeds of two windows, with a bank per transformer block. */
const SPARES = 32;

/**
 * HighSync (https://github.com/saeed5959/high_sync, arXiv 2605.16918): denoises the lower face of a whole stretch of
 * frames together, through overlapping windows, conditioned on the source frames and on 200 ms of sound around each.
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
    const pool = createArrayPool(SPARES + params.stretch);
    return { pool, call: createCallRole(run, pool) };
  };

  return {
    features,
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
      const given = { reference, mouths: track.mouths };
      const denoise = createDenoiseStretch(params, createPredictWindow(manifest, given, call, pool), pool);
      const lastShown = new Map(sources.map((source, output) => [source, output]));

      // Each stretch is denoised when its first face is needed, or earlier, and its faces are decoded a few at a time.
      const stretches = cutRuns(highsyncRuns(sources, faces, track), params.stretch);
      const numbers = new Int32Array(sources.length).fill(-1);
      stretches.forEach(({ start, end }, number) => numbers.fill(number, start, end));
      const stretchAt = (number: number): Run => {
        const stretch = stretches[number];
        if (!stretch) throw new RangeError(`there is no stretch ${number}`);
        return stretch;
      };
      const queue = createStretchQueue(
        stretches.length,
        (number, stopped) => {
          const outputs = stretchAt(number);
          return sourceLatents.use(outputs, stopped, async (latents) => {
            reference.use(latents, (source) => (lastShown.get(source) ?? -1) >= outputs.start);
            const windows = await audio.load(outputs.start, outputs.end - 1);
            return denoise(
              {
                outputs,
                sources,
                latents,
                writeLandmarks: (source, target, offset) =>
                  writeCropLandmarks(
                    track.landmarks,
                    source,
                    boxAt(faces.crops, source),
                    side,
                    target,
                    offset,
                  ),
                writeAudio: (output, target, offset) => windows.write(output, target, offset),
              },
              stopped,
            );
          });
        },
        signal,
      );

      const blendMask = rectangleBlendMask(mask, latent);
      const pasteFace = createPasteFace(format, side);
      const cropOf = (output: number): Box => boxAt(faces.crops, sources[output] ?? -1);
      const parts: BatchParts = {
        pool,
        stretchOf: (output) => numbers[output] ?? -1,
        async generate(number, outputs) {
          // [frames, C, h, w].
          const latents = await queue.want(number);
          const { start } = stretchAt(number);
          const size = latent.channels * plane;
          return allOf(outputs.map((output) => decode(latents, (output - start) * size, plane)));
        },
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
