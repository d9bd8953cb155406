import { type ClipInput, type FrameFeatures } from '../engine';
import { createHighsync } from '../highsync/engine';
import { highsyncFaces } from '../highsync/faces';
import { type HighsyncManifest } from '../highsync/manifest';
import { cachedLayout, createCachedLatents } from '../highsync/source-latents';
import { createLatentsync } from '../latentsync/engine';
import { createFaceEncoding } from '../latentsync/face-window';
import { type LatentsyncManifest } from '../latentsync/manifest';
import { inpaintMask } from '../latentsync/mask';
import { createArrayPool, createCallRole, float32Of, float32Tensor, type RunModel } from '../model';
import { createMusetalk } from '../musetalk/engine';
import { createFaceFeatures } from '../musetalk/features';
import { type MusetalkManifest } from '../musetalk/manifest';
import { type Pack } from '../packs';
import { recordingOf } from '../speech/log-mel';
import { clipInput, generate, memoryFeatures, type OpenClip, trackOf, upTo } from './clips';
import { goldenPicture, goldenSound } from './golden';

/** A loaded pack. */
interface Loaded<M extends MusetalkManifest | LatentsyncManifest | HighsyncManifest> {
  readonly pack: Pack<M>;
  readonly run: RunModel;
}

/** A clip as long as its sound. Every source frame's latents are known, so that no picture has to be cropped. */
function goldenClip(frames: number, seconds: number, features: FrameFeatures): ClipInput {
  const { input } = clipInput(trackOf(frames), upTo(frames), { features });
  return { ...input, audio: recordingOf(goldenSound(seconds)) };
}

async function drawn(
  engine: { open(input: ClipInput): OpenClip },
  input: ClipInput,
): Promise<Float32Array[]> {
  const clip = engine.open(input);
  const { images } = await generate(clip, input.sources);
  await clip.close();
  return images.flatMap((image) => image ?? []);
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
    const slots = upTo(Math.min(batch, frames - first));
    for (const slot of slots) {
      cut.crops.set(goldenPicture(first + slot, side), slot * 3 * side * side);
      cut.faces.push({ slot, box: { x1: 0, y1: 0, x2: side, y2: side }, isParsed: false });
    }
    await faceFeatures.compute(cut, latents, new Float32Array(0)).encoded;
    for (const slot of slots) features.write(first + slot, latents, slot * faceFeatures.latentValues);
  }
  return drawn(engine, goldenClip(frames, seconds, features));
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
  const mask = inpaintMask(params.mask, params.resolution);
  const { encode } = createFaceEncoding(params, mask, call, pool);
  for (let frame = 0; frame < frames; frame++) {
    const [latents = new Float32Array()] = await encode([goldenPicture(frame, params.resolution)]);
    features.write(frame, latents, 0);
  }
  return drawn(engine, goldenClip(frames, seconds, features));
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
  return drawn(engine, input);
}
