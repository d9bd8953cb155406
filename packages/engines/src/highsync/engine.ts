import { type Box, createPasteFace } from '@lipsync/kernels';
import { type ClipInput, type EngineClip, type LipSyncEngine } from '../engine';
import { type FaceTrack } from '../face/face-track';
import { LANDMARK_VALUES, writeCropLandmarks } from '../face/landmarks';
import { cutRuns, type Run } from '../face/smoothing';
import { allOf } from '../in-order';
import { createDecodeLatent, createFrameEncoder } from '../latents';
import { createArrayPool, createCallRole, type RunModel } from '../model';
import { type Pack } from '../packs';
import { encodeSpeech } from '../speech/speech-features';
import { createDenoiseStretch } from './denoise-stretch';
import { type BatchParts, createStretchQueue, WantedFaces } from './face-batch';
import { type HighsyncFaces, highsyncFaces, highsyncRuns } from './faces';
import { type HighsyncManifest, type HighsyncParams } from './manifest';
import { rectangleBlendMask } from './mask';
import { createPredictWindow, createReferenceBanks } from './predict-window';
import { cachedLayout, createCachedLatents, createFaceLatents, createSourceLatents } from './source-latents';

/** Spare arrays per length besides a stretch's latents: the feeds of two windows, with a bank per transformer block. */
const SPARES = 32;

export interface HighsyncOptions {
  /** Memory for the reference network's banks, in bytes; banks that do not fit are recomputed in every step. */
  readonly bankBytes?: number | undefined;
}

/**
 * HighSync (https://github.com/saeed5959/high_sync, arXiv 2605.16918): denoises the lower face of a whole stretch of
 * frames together, through overlapping windows, conditioned on the source frames and on 200 ms of sound around each.
 */
export function createHighsync(
  pack: Pack<HighsyncManifest>,
  run: RunModel,
  { bankBytes = Infinity }: HighsyncOptions = {},
) {
  const { manifest } = pack;
  const { params } = manifest;
  const plane = params.latent.height * params.latent.width;
  const features = cachedLayout(params.latent);
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
      const { pool, call } = newMemory();
      const decode = createDecodeLatent(params.latent, call, pool);
      const faces = highsyncFaces(clip.track);
      const audio = await encodeSpeech(clip, params.audio, 'repeat', run);
      const banks = createReferenceBanks({ manifest, call, pool, maxBytes: bankBytes });
      const sourceLatents = createSourceLatents(
        clip,
        createCachedLatents(features, clip.features, faces),
        createFaceLatents(params, faces, clip.format, call, pool),
        pool,
      );
      const denoise = createDenoiseStretch(params, createPredictWindow(manifest, banks, call, pool), pool);
      const lastShown = new Map(clip.sources.map((source, output) => [source, output]));
      const writeLandmarks = landmarkWriter(clip.track, faces.crops, params.resolution);
      return createHighsyncClip(clip, {
        params,
        faces,
        denoise: (outputs, signal) =>
          sourceLatents.use(outputs, signal, async (latents) => {
            banks.use(latents, (source) => (lastShown.get(source) ?? -1) >= outputs.start);
            const windows = await audio.load(outputs.start, outputs.end - 1);
            return denoise(
              {
                outputs,
                sources: clip.sources,
                latents,
                writeLandmarks,
                writeAudio: (output, target, offset) => windows.write(output, target, offset),
              },
              signal,
            );
          }),
        // [frames, C, h, w].
        decode: (latents, offset) => decode(latents, offset, plane),
        give: (image) => pool.give(image),
        close: () => sourceLatents.close(),
      });
    },
  } satisfies LipSyncEngine;
}

/** Writes a source frame's landmarks in pixels of its crop. */
function landmarkWriter({ landmarks }: FaceTrack, crops: Float32Array, side: number) {
  return (source: number, target: Float32Array, offset: number): void => {
    const [x1 = 0, y1 = 0, x2 = 0, y2 = 0] = crops.subarray(source * 4, source * 4 + 4);
    writeCropLandmarks(landmarks, source * LANDMARK_VALUES, { x1, y1, x2, y2 }, side, target, offset);
  };
}

/** Number of frames that are pasted together while the next ones are decoded. */
const BATCH_SIZE = 4;

type Floats = Float32Array<ArrayBuffer>;

export interface HighsyncClip extends EngineClip {
  newBatch(): WantedFaces;
}

interface HighsyncClipParts {
  readonly params: HighsyncParams;
  readonly faces: HighsyncFaces;
  /** Clean latents [frames, C, h, w] of the output frames of one run. */
  denoise(outputs: Run, signal: AbortSignal): Promise<Float32Array>;
  /** Decodes the latent at `offset` to a picture [3, side, side]. */
  decode(latents: Float32Array, offset: number): Promise<Floats>;
  /** Returns an image of `decode` for reuse. */
  give(image: Floats): void;
  close(): Promise<void>;
}

/**
 * Divides the output into stretches. Each is denoised when its first face is needed, or earlier, and its faces are
 * decoded a few at a time. Frames outside every stretch are left alone.
 */
function createHighsyncClip(
  { track, sources, format, signal }: Pick<ClipInput, 'track' | 'sources' | 'format' | 'signal'>,
  parts: HighsyncClipParts,
): HighsyncClip {
  const { params, faces } = parts;
  const { latent, mask, resolution: side } = params;
  const latentSize = latent.channels * latent.height * latent.width;
  const stretches = cutRuns(highsyncRuns(sources, faces, track), params.stretch);
  const stretchAt = (number: number): Run => {
    const stretch = stretches[number];
    if (!stretch) throw new RangeError(`there is no stretch ${number}`);
    return stretch;
  };
  const numbers = new Int32Array(sources.length).fill(-1);
  stretches.forEach(({ start, end }, number) => numbers.fill(number, start, end));
  const queue = createStretchQueue(
    stretches.length,
    (number, stopped) => parts.denoise(stretchAt(number), stopped),
    signal,
  );
  const cropOf = (output: number): Box => {
    const { crops } = faces;
    const at = (sources[output] ?? -1) * 4;
    return { x1: crops[at] ?? 0, y1: crops[at + 1] ?? 0, x2: crops[at + 2] ?? 0, y2: crops[at + 3] ?? 0 };
  };
  const blendMask = rectangleBlendMask(mask, latent);
  const pasteFace = createPasteFace(format, side);
  const batchParts: BatchParts = {
    stretchOf: (output) => numbers[output] ?? -1,
    async generate(stretch, outputs) {
      const latents = await queue.want(stretch);
      const { start } = stretchAt(stretch);
      return allOf(outputs.map((output) => parts.decode(latents, (output - start) * latentSize)));
    },
    paste: (frame, output, image) => pasteFace(frame, cropOf(output), image, 0, blendMask),
    give: (image) => parts.give(image),
  };

  return {
    batchSize: BATCH_SIZE,
    newBatch: () => new WantedFaces(BATCH_SIZE, batchParts),

    enlargement(output) {
      const { x1, y1, x2, y2 } = cropOf(output);
      return Math.max(x2 - x1, y2 - y1) / side;
    },

    async close() {
      await queue.close();
      await parts.close();
    },
  };
}
