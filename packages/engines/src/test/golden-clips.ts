import { type ClipInput, type FrameFeatures } from '../engine';
import { createHighsync } from '../highsync/engine';
import { highsyncFaces } from '../highsync/faces';
import { type HighsyncManifest } from '../highsync/manifest';
import { cachedLayout, createCachedLatents } from '../highsync/source-latents';
import { createLatentsync } from '../latentsync/engine';
import { createEncodeFace } from '../latentsync/face-window';
import { type LatentsyncManifest } from '../latentsync/manifest';
import { inpaintMask } from '../latentsync/mask';
import { createArrayPool, createCallRole, float32Of, float32Tensor, type RunModel } from '../model';
import { createMusetalk, type MusetalkClip } from '../musetalk/engine';
import { createFaceFeatures } from '../musetalk/features';
import { type MusetalkManifest } from '../musetalk/manifest';
import { type Pack } from '../packs';
import { recordingOf } from '../speech/log-mel';
import { clipInput, generate as generateHighsync, memoryFeatures, trackOf } from './clips';
import { goldenPicture, goldenSound } from './golden';
import { generate as generateLatentsync } from './latentsync-clip';

/** A loaded pack. */
interface Loaded<M extends MusetalkManifest | LatentsyncManifest | HighsyncManifest> {
  readonly pack: Pack<M>;
  readonly run: RunModel;
}

/** A clip as long as its sound. Every source frame's latents are known, so that no picture has to be cropped. */
function goldenClip(frames: number, seconds: number, features: FrameFeatures): ClipInput {
  const sources = Array.from({ length: frames }, (_, frame) => frame);
  return {
    ...clipInput(trackOf(frames), sources, { features }).input,
    audio: recordingOf(goldenSound(seconds)),
  };
}

/** The crops that musetalk generates from the golden pictures and the golden sound. */
export async function musetalkImages(
  { pack, run }: Loaded<MusetalkManifest>,
  frames: number,
  seconds: number,
): Promise<Float32Array[]> {
  const { batch, resolution: side } = pack.manifest.params;
  const engine = createMusetalk(pack, run);
  const features = memoryFeatures(engine.features.values);
  const faceFeatures = createFaceFeatures(pack.manifest, run, createArrayPool(4));
  for (let first = 0; first < frames; first += batch) {
    const cut = faceFeatures.newCut();
    const latents = new Float32Array(batch * faceFeatures.latentValues);
    for (let slot = 0; slot < Math.min(batch, frames - first); slot++) {
      cut.crops.set(goldenPicture(first + slot, side), slot * 3 * side * side);
      cut.faces.push({ slot, box: { x1: 0, y1: 0, x2: side, y2: side }, square: undefined });
    }
    const filled = cut.faces.length;
    await faceFeatures.compute(cut, latents, new Float32Array(0));
    for (let slot = 0; slot < filled; slot++) {
      features.write(first + slot, latents, slot * faceFeatures.latentValues);
    }
  }
  const clip = await engine.open(goldenClip(frames, seconds, features));
  const images = await generateMusetalk(clip, frames, 3 * side * side);
  await clip.close();
  return images;
}

async function generateMusetalk(clip: MusetalkClip, outputs: number, size: number): Promise<Float32Array[]> {
  const images: Float32Array[] = [];
  for (let output = 0; output < outputs;) {
    const batch = clip.newBatch();
    while (output < outputs && batch.size < clip.batchSize) batch.take(new Uint8Array(0), output++);
    const faces = await batch.infer();
    for (let slot = 0; slot < batch.size; slot++) {
      images.push(faces.images.slice(slot * size, (slot + 1) * size));
    }
    faces.recycle();
  }
  return images;
}

/** The crops that latentsync generates from the golden pictures and the golden sound. */
export async function latentsyncImages(
  { pack, run }: Loaded<LatentsyncManifest>,
  frames: number,
  seconds: number,
): Promise<Float32Array[]> {
  const { params } = pack.manifest;
  const engine = createLatentsync(pack, run);
  const features = memoryFeatures(engine.features.values);
  const pool = createArrayPool(4);
  const call = createCallRole(run, pool);
  const encode = createEncodeFace(params, inpaintMask(params.mask, params.resolution), call, pool);
  for (let frame = 0; frame < frames; frame++) {
    features.write(frame, await encode(goldenPicture(frame, params.resolution)), 0);
  }
  const input = goldenClip(frames, seconds, features);
  const clip = await engine.open(input);
  const { images } = await generateLatentsync(clip, input.sources);
  await clip.close();
  return images.flatMap((image) => image ?? []);
}

/** The crops that highsync generates from the golden pictures and the golden sound. */
export async function highsyncImages(
  { pack, run }: Loaded<HighsyncManifest>,
  frames: number,
  seconds: number,
): Promise<Float32Array[]> {
  const { latent, resolution: side } = pack.manifest.params;
  const engine = createHighsync(pack, run);
  const features = memoryFeatures(engine.features.values);
  const input = goldenClip(frames, seconds, features);
  const kept = createCachedLatents(cachedLayout(latent), features, highsyncFaces(input.track));
  for (const frame of input.sources) {
    const image = float32Tensor(goldenPicture(frame, side), [1, 3, side, side]);
    const moments = float32Of((await run('vae_encoder', { image })).outputs, 'latent');
    const size = latent.channels * latent.height * latent.width;
    kept.keep(
      frame,
      moments.subarray(0, size).map((value) => value * latent.scale),
    );
  }
  const clip = await engine.open(input);
  const images = await generateHighsync(clip, frames);
  await clip.close();
  return images.flatMap((image) => image ?? []);
}
