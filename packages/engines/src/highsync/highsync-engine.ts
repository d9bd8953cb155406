import { createArrayPool } from '../array-pool';
import { createCallRole } from '../call-role';
import { createDecodeLatent } from '../decode-latent';
import { type LipSyncEngine } from '../engine';
import { writeCropLandmarks } from '../face/crop-landmarks';
import { type FaceTrack } from '../face/face-track';
import { LANDMARK_VALUES } from '../face/landmarks68';
import { createFrameEncoder } from '../frame-encoder';
import { type Pack } from '../packs';
import { type RunModel } from '../run-model';
import { hearSpeech } from '../speech/hear-speech';
import { createDenoiseStretch } from './denoise-stretch';
import { createFaceLatents } from './face-latents';
import { createHighsyncClip } from './highsync-clip';
import { highsyncFaces } from './highsync-faces';
import { type HighsyncManifest } from './highsync-manifest';
import { createKeptLatents, keptLayout } from './kept-latents';
import { createPredictWindow } from './predict-window';
import { createReferenceBanks } from './reference-banks';
import { createSourceLatents } from './source-latents';

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
  const features = keptLayout(params.latent);
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
      const kept = createKeptLatents(features, known, faces);
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
      const audio = await hearSpeech(clip, params.audio, 'repeat', run);
      const banks = createReferenceBanks({ manifest, call, pool, maxBytes: bankBytes });
      const sourceLatents = createSourceLatents(
        clip,
        createKeptLatents(features, clip.features, faces),
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
            const heard = await audio.load(outputs.start, outputs.end - 1);
            return denoise(
              {
                ...{ outputs, sources: clip.sources, latents, writeLandmarks },
                writeAudio: (output, target, offset) => heard.write(output, target, offset),
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
