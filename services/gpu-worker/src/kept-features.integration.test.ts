import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeFaceTrack } from '@lipsync/lipsync';
import { buildBuiltinPacks, openPack } from '@lipsync/model-pack';
import { eventually, makeNumberedVideo, makeTone } from '@lipsync/testkit';
import { createInferenceHost, type InferenceHost, type TaskOptions } from './host/inference-host';
import { failingGraph, writeAlteredPack } from './test/altered-pack';
import { COMPILED_CHILD } from './test/compiled';
import { packAt } from './test/pack-at';
import { writePooledMusetalkPack } from './test/pooled-musetalk-pack';
import { syntheticTrack } from './test/synthetic-track';

const SIZE = { width: 256, height: 288 };
const FRAMES = 30;
const FACES = 25;
const LONG = 600;
const HEADER = 512;
const RECORD = 4 * (1 + 2 * 3 * 32 * 32);

/** Compares byte by byte; a matcher would take minutes over millions of them. */
async function sameBytes(a: string, b: string): Promise<boolean> {
  return (await readFile(a)).equals(await readFile(b));
}

describe('the frame features that engines keep, in the child', () => {
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
    // Long enough that a cancel arrives while it is being processed.
    await makeNumberedVideo(at('long.mp4'), { frames: LONG, ...SIZE });
    await writeFile(at('long.track'), encodeFaceTrack(syntheticTrack({ frames: LONG, ...SIZE, box })));
  }, 60_000);
  afterAll(async () => {
    host.kill();
    await rm(folder, { recursive: true, force: true });
  });

  let tasks = 0;
  const prepare = async (
    featuresPath: string,
    { packDir = pooled(), video = 'video.mp4', track = 'face.track' } = {},
    options: TaskOptions = {},
  ) =>
    host.analyze(
      {
        jobId: `prepare ${tasks++}`,
        analyzer: await packAt(at('packs/analyzer')),
        videoPath: at(video),
        trackPath: at(track),
        reuseTrack: true,
        engines: [{ engine: 'musetalk', pack: await packAt(packDir), featuresPath }],
      },
      options,
    );
  const render = async (audio: string, output: string, featuresPath?: string) =>
    host.render({
      jobId: `render ${tasks++}`,
      engine: 'musetalk',
      pack: await packAt(pooled()),
      analyzer: await packAt(at('packs/analyzer')),
      videoPath: at('video.mp4'),
      audioPath: at(audio),
      outputPath: at(output),
      syncMode: 'loop',
      faceTrackPath: at('face.track'),
      ...(featuresPath !== undefined && { featuresPath }),
    });

  test('a preparation with a track computes the features of every face, and analyzes nothing', async () => {
    const written = (await stat(at('face.track'))).mtimeMs;
    const prepared = await prepare(at('prepared.features'));
    expect(prepared).toMatchObject({ frames: FRAMES, complete: true, featuresAdded: { musetalk: FACES } });
    expect(prepared.graphFailed).toBe(false);
    expect(prepared.timings.analyseMs).toBe(0);
    expect((await stat(at('prepared.features'))).size).toBe(HEADER + FACES * RECORD);
    expect((await stat(at('face.track'))).mtimeMs).toBe(written);

    const again = await prepare(at('prepared.features'));
    expect(again.featuresAdded).toEqual({ musetalk: 0 });
  }, 60_000);

  test('a prepared render adds nothing and makes the same video as one that starts from nothing', async () => {
    await prepare(at('same.features'));
    const plain = await render('long.wav', 'plain.mp4');
    const prepared = await render('long.wav', 'prepared.mp4', at('same.features'));
    expect([plain.featuresAdded, prepared.featuresAdded]).toEqual([0, 0]);
    expect(await sameBytes(at('prepared.mp4'), at('plain.mp4'))).toBe(true);
  }, 60_000);

  test('renders fill the file as far as they go; a loop adds each frame once', async () => {
    const short = await render('short.wav', 'short.mp4', at('grown.features'));
    expect([short.renderedFrames, short.featuresAdded]).toEqual([10, 10]);
    const long = await render('long.wav', 'grown.mp4', at('grown.features'));
    expect([long.renderedFrames, long.featuresAdded]).toEqual([75, FACES - 10]);
    const again = await render('long.wav', 'again.mp4', at('grown.features'));
    expect(again.featuresAdded).toBe(0);
    expect(await sameBytes(at('again.mp4'), at('grown.mp4'))).toBe(true);
  }, 60_000);

  test('a cancelled preparation leaves what it has, and the next one continues from there', async () => {
    const long = { video: 'long.mp4', track: 'long.track' };
    const cancel = new AbortController();
    const steps: number[] = [];
    const stopped = prepare(at('stopped.features'), long, {
      signal: cancel.signal,
      onProgress: (stage, percent) => void (stage === 'preparing' && steps.push(percent)),
    });
    const cancelling = eventually(async () => {
      // It has something, but not everything yet.
      expect((await stat(at('stopped.features'))).size).toBeGreaterThan(HEADER);
      cancel.abort();
    });
    const [outcome] = await Promise.allSettled([stopped, cancelling]);
    expect(outcome).toMatchObject({ reason: { name: 'InferenceFailure', code: 'cancelled' } });
    expect(steps).toEqual([...steps].sort((a, b) => a - b));

    const rest = (await prepare(at('stopped.features'), long)).featuresAdded.musetalk ?? 0;
    expect(rest).toBeGreaterThan(0);
    expect(rest).toBeLessThan(LONG);
    await prepare(at('whole.features'), long);
    expect(await sameBytes(at('stopped.features'), at('whole.features'))).toBe(true);
  }, 60_000);

  test('features too large to be worth fetching are not kept', async () => {
    const { featuresAdded } = await prepare(at('large.features'), { packDir: at('packs/builtin-musetalk') });
    expect(featuresAdded).toEqual({ musetalk: 0 });
    await expect(stat(at('large.features'))).rejects.toMatchObject({ code: 'ENOENT' });
  }, 60_000);

  test('a preparation that succeeds without an engine tells that its graph failed', async () => {
    await writeAlteredPack(at('failing'), await openPack(pooled()), 'vae_encoder', failingGraph);
    const prepared = await prepare(at('failing.features'), { packDir: at('failing') });
    expect(prepared).toMatchObject({ graphFailed: true, featuresAdded: {} });
    expect(prepared.featuresFailed.musetalk).toContain('engine_failed');
  }, 60_000);

  test('nothing computed with a replaced pack is stored under the name of the previous one', async () => {
    const pack = { ...(await packAt(pooled())), digest: 'f'.repeat(64) };
    const preparing = host.analyze({
      ...{ jobId: `prepare ${tasks++}`, analyzer: await packAt(at('packs/analyzer')) },
      ...{ videoPath: at('video.mp4'), trackPath: at('face.track'), reuseTrack: true },
      engines: [{ engine: 'musetalk', pack, featuresPath: at('replaced.features') }],
    });
    // The engine's failure may end the preparation or only the engine's part of it.
    await Promise.allSettled([preparing]);
    await expect(stat(at('replaced.features'))).rejects.toMatchObject({ code: 'ENOENT' });
  }, 60_000);

  test('verifying a pack tells whether it keeps features, and in which version', async () => {
    const packDirs = [pooled(), at('packs/builtin-musetalk')];
    const { packs } = await host.verify({ jobId: 'verify', packDirs });
    expect(packs).toEqual([
      {
        packDir: packDirs[0],
        provider: 'cpu',
        features: { version: '1', values: expect.any(Number) as number },
      },
      { packDir: packDirs[1], provider: 'cpu' },
    ]);
  }, 60_000);
});
