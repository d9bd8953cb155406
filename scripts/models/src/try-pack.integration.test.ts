import { appendFile, cp, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { buildBuiltinPacks } from '@lipsync/builtin-packs';
import { openPackFor } from '@lipsync/engines';
import { writePassthroughPack, writeTinyPacks } from '@lipsync/engines/test';
import { type Binaries, inspect, resolveBinaries } from '@lipsync/media';
import { encodeModel, GraphBuilder, MANIFEST_FILE, modelFile, packVersion } from '@lipsync/model-pack';
import { testFolder } from '@lipsync/testkit';
import { type Clip, type ClipShape, makeClip } from './sample-clip';
import { type Trial, tryPack } from './try-pack';

/** The compiled inference process: a child process cannot run TypeScript. */
const entry = path.resolve(__dirname, '../../../services/gpu-worker/dist/inference/main.js');

/** As many frames as the sync measurement needs. */
const SHAPE: ClipShape = { width: 320, height: 320, seconds: 3, fps: 25, grain: 0 };
const FRAMES = 75;

describe('a trial of a model pack', () => {
  const at = testFolder();
  let binaries: Binaries;
  let clip: Clip;
  let short: Clip;

  beforeAll(async () => {
    binaries = await resolveBinaries(process.env);
    await buildBuiltinPacks(at('packs'));
    await cp(at('packs/analyzer'), at('tiny/analyzer'), { recursive: true });
    await writeTinyPacks(at('tiny'));
    clip = await makeClip(binaries.ffmpeg, at(), SHAPE);
    short = await makeClip(binaries.ffmpeg, at(), { ...SHAPE, seconds: 0.4 });
  });

  const attempt = (dir: string, trial: Partial<Trial> = {}) =>
    tryPack(binaries.ffmpeg, dir, {
      ...clip,
      outputFile: at('out.mp4'),
      packsDir: at('packs'),
      entry,
      ...trial,
    });

  async function rewriteManifest(dir: string, from: string, to: string): Promise<void> {
    const file = path.join(dir, MANIFEST_FILE);
    await writeFile(file, (await readFile(file, 'utf8')).replace(from, to));
  }

  test('renders with exactly that pack, and reports speed and quality', async () => {
    // Not installed, and not the engine's only pack: the folder also has the built-in one.
    const dir = at('exported');
    await cp(at('packs/builtin-musetalk'), dir, { recursive: true });
    await rewriteManifest(dir, '"builtin-musetalk"', '"official"');
    const outputFile = at('made-for-it/out.mp4');
    const row = await attempt(dir, { outputFile });

    expect(row).toMatchObject({
      pack: packVersion(await openPackFor('musetalk', dir)),
      engine: 'musetalk',
      provider: 'cpu',
      output: outputFile,
      rendered_frames: FRAMES,
      gpu_seconds: null,
      faceless_share: 0,
      sampled_frames: FRAMES,
      quality_problem: null,
    });
    for (const figure of ['render_seconds', 'render_fps', 'inference_fps', 'peak_rss_mib', 'seam_levels'])
      expect(row[figure]).toBeGreaterThan(0);
    // Neither unmeasured nor still; how it follows the loudness says nothing of how it speaks.
    expect(row['sync_correlation']).toBeGreaterThan(0);
    expect(row['skin_psnr_db']).toBeGreaterThan(25);

    const { video, audio } = await inspect(binaries, outputFile);
    expect(video).toMatchObject({ width: SHAPE.width, height: SHAPE.height });
    expect(audio).toBeDefined();
    expect(await readdir(at('packs'))).not.toContain('exported');
  });

  test('a graph that loads but fails in the render fails the trial in one line, and no video is left', async () => {
    const dir = at('breaking');
    const { roles } = (await openPackFor('musetalk', (await writePassthroughPack(dir)).dir)).manifest;
    const { file, sha256, inputs, outputs } = roles.vae_decoder;
    const g = new GraphBuilder('never_so_many');
    const latent = g.input(inputs.latent.name, 'float32', inputs.latent.dims);
    const gray = g.op('ReduceMean', [g.op('Reshape', [latent, g.ints([999, -1])])], { keepdims: 0 });
    const batch = g.op('Gather', [g.op('Shape', [latent]), g.ints([0])]);
    const image = g.op('Expand', [gray, g.op('Concat', [batch, g.ints([3, 256, 256])], { axis: 0 })]);
    g.output(outputs.image.name, image, 'float32', outputs.image.dims);
    const model = encodeModel(g.build());
    await writeFile(path.join(dir, file), model);
    await rewriteManifest(dir, sha256, modelFile(file, model).sha256);

    const failing = attempt(dir, { ...short, outputFile: at('none.mp4') });
    await expect(failing).rejects.toThrow(/^not rendered: engine_failed: SessionError: .*Reshape.*$/);
    expect(await readdir(at())).not.toContain('none.mp4');
  });

  test('a pack that does not verify is refused with the verification’s message', async () => {
    const dir = at('damaged');
    await cp(at('tiny/tiny-musetalk'), dir, { recursive: true });
    await appendFile(path.join(dir, 'unet.onnx'), '!');
    await expect(attempt(dir)).rejects.toThrow(/^not tried: .*unet\.onnx \(unet\) has SHA-256/);
    await expect(attempt(at('nowhere'))).rejects.toThrow('pack.json cannot be read');
  });

  test('a face analyzer is tried by a render with the pack that serves musetalk', async () => {
    const dir = at('other-analyzer');
    await cp(at('packs/analyzer'), dir, { recursive: true });
    await rewriteManifest(dir, '"builtin-face-api-68"', '"landmarks"');
    expect(await attempt(dir, { ...short, packsDir: at('tiny') })).toMatchObject({
      pack: packVersion(await openPackFor('analyzer', dir)),
      engine: 'musetalk',
      rendered_frames: 10,
      faceless_share: 0,
    });
  });

  test('a trial without a face analyzer is refused', async () => {
    const packsDir = at('no-analyzer');
    await cp(at('tiny/tiny-musetalk'), path.join(packsDir, 'tiny-musetalk'), { recursive: true });
    await expect(attempt(at('tiny/tiny-musetalk'), { packsDir })).rejects.toThrow('holds no face analyzer');
  });

  test('a file that cannot be rendered is reported with the code that customers would see', async () => {
    await writeFile(at('broken.mp4'), 'this is not a video');
    const dir = at('tiny/tiny-musetalk');
    await expect(attempt(dir, { ...short, videoFile: at('broken.mp4') })).rejects.toThrow(
      /^not rendered: media_unsupported: .*$/,
    );
    await expect(attempt(dir, { audioFile: at('nowhere.wav') })).rejects.toThrow('nowhere.wav');
  });
});
