import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeFaceTrack } from '@lipsync/lipsync';
import { buildBuiltinPacks } from '@lipsync/model-pack';
import { makeNumberedVideo, makeTone } from '@lipsync/testkit';
import { createInferenceHost, type InferenceHost } from './host/inference-host';
import { COMPILED_CHILD } from './test/compiled';
import { writePooledMusetalkPack } from './test/pooled-musetalk-pack';
import { syntheticTrack } from './test/synthetic-track';

const SIZE = { width: 256, height: 288 };
const FRAMES = 30;
const FACES = 25;
const RECORD = 4 * (1 + 2 * 3 * 32 * 32);

describe('what engines keep of frames, in the child', () => {
  let folder: string;
  let host: InferenceHost;
  const at = (name: string): string => join(folder, name);
  const pooled = (): string => at('pooled');

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kept-features-'));
    host = createInferenceHost({ entry: COMPILED_CHILD });
    await buildBuiltinPacks(at('packs'));
    await writePooledMusetalkPack(pooled(), at('packs'));
    await makeNumberedVideo(at('video.mp4'), { frames: FRAMES, ...SIZE });
    await makeTone(at('short.wav'), { seconds: 0.4 });
    await makeTone(at('long.wav'), { seconds: 3 });
    const box = { x1: 60, y1: 110, x2: 190, y2: 260 };
    const track = syntheticTrack({ frames: FRAMES, ...SIZE, box, hasFace: (frame) => frame < FACES });
    await writeFile(at('face.track'), encodeFaceTrack(track));
  }, 60_000);
  afterAll(async () => {
    host.kill();
    await rm(folder, { recursive: true, force: true });
  });

  let tasks = 0;
  const prepare = (featuresPath: string, packDir = pooled()) =>
    host.analyze({
      jobId: `prepare ${tasks++}`,
      analyzerPackDir: at('packs/analyzer'),
      videoPath: at('video.mp4'),
      trackPath: at('made.track'),
      reuseTrackPath: at('face.track'),
      engines: [{ engine: 'musetalk', packDir, featuresPath }],
    });
  const render = (audio: string, output: string, featuresPath?: string) =>
    host.render({
      jobId: `render ${tasks++}`,
      engine: 'musetalk',
      packDir: pooled(),
      analyzerPackDir: at('packs/analyzer'),
      videoPath: at('video.mp4'),
      audioPath: at(audio),
      outputPath: at(output),
      syncMode: 'loop',
      faceTrackPath: at('face.track'),
      ...(featuresPath !== undefined && { featuresPath }),
    });

  test('a preparation with a track computes the features of every face, and analyses nothing', async () => {
    const prepared = await prepare(at('prepared.features'));
    expect(prepared).toMatchObject({ frames: FRAMES, complete: true, featuresAdded: { musetalk: FACES } });
    expect(prepared.timings.analyseMs).toBe(0);
    expect((await stat(at('prepared.features'))).size).toBe(512 + FACES * RECORD);
    await expect(stat(at('made.track'))).rejects.toMatchObject({ code: 'ENOENT' });

    const again = await prepare(at('prepared.features'));
    expect(again.featuresAdded).toEqual({ musetalk: 0 });
  }, 60_000);

  test('a prepared render adds nothing and makes the same video as one that starts from nothing', async () => {
    await prepare(at('same.features'));
    const plain = await render('long.wav', 'plain.mp4');
    const prepared = await render('long.wav', 'prepared.mp4', at('same.features'));
    expect([plain.featuresAdded, prepared.featuresAdded]).toEqual([0, 0]);
    expect(await readFile(at('prepared.mp4'))).toEqual(await readFile(at('plain.mp4')));
  }, 60_000);

  test('renders fill the file as far as they go, a loop each frame once', async () => {
    const short = await render('short.wav', 'short.mp4', at('grown.features'));
    expect([short.renderedFrames, short.featuresAdded]).toEqual([10, 10]);
    const long = await render('long.wav', 'grown.mp4', at('grown.features'));
    expect([long.renderedFrames, long.featuresAdded]).toEqual([75, FACES - 10]);
    const again = await render('long.wav', 'again.mp4', at('grown.features'));
    expect(again.featuresAdded).toBe(0);
    expect(await readFile(at('again.mp4'))).toEqual(await readFile(at('grown.mp4')));
  }, 60_000);

  test('features larger than what is worth fetching are not kept', async () => {
    const { featuresAdded } = await prepare(at('large.features'), at('packs/builtin-musetalk'));
    expect(featuresAdded).toEqual({ musetalk: 0 });
    await expect(stat(at('large.features'))).rejects.toMatchObject({ code: 'ENOENT' });
  }, 60_000);

  test('whoever verifies a pack learns whether it keeps features, and of which version', async () => {
    const packDirs = [pooled(), at('packs/builtin-musetalk')];
    const { packs } = await host.verify({ jobId: 'verify', packDirs });
    expect(packs).toEqual([
      { packDir: packDirs[0], provider: 'cpu', featuresVersion: '1' },
      { packDir: packDirs[1], provider: 'cpu' },
    ]);
  }, 60_000);
});
