import { readFile, stat, writeFile } from 'node:fs/promises';
import { buildBuiltinPacks } from '@lipsync/builtin-packs';
import { encodeFaceTrack } from '@lipsync/engines';
import { syntheticTrack, writePooledMusetalkPack } from '@lipsync/engines/test';
import { eventually, makeNumberedVideo, makeTone, testFolder } from '@lipsync/testkit';
import { createInferenceHost, type InferenceHost, type TaskOptions } from './host/inference-host';
import { type TaskPack } from './protocol/messages';
import { COMPILED_CHILD, packAt } from './test/real-child';

const SIZE = { width: 256, height: 288 };
const FRAMES = 12;
const FACES = 10;
const LONG = 300;
const HEADER = 512;
const RECORD = 4 * (1 + 2 * 3 * 32 * 32);

describe('the features that engines cache, as the child computes them', () => {
  const at = testFolder();
  let host: InferenceHost;
  let pooled: TaskPack;

  beforeAll(async () => {
    host = createInferenceHost({ entry: COMPILED_CHILD });
    await buildBuiltinPacks(at('packs'));
    await writePooledMusetalkPack(at('pooled'));
    pooled = await packAt(at('pooled'));
    await makeNumberedVideo(at('video.mp4'), { frames: FRAMES, ...SIZE });
    await makeTone(at('short.wav'), { seconds: 0.2 });
    await makeTone(at('long.wav'), { seconds: 0.8 });
    const box = { x1: 60, y1: 110, x2: 190, y2: 260 };
    const track = syntheticTrack({ frames: FRAMES, ...SIZE, box, hasFace: (frame) => frame < FACES });
    await writeFile(at('face.track'), encodeFaceTrack(track));
    // Long enough that a cancel arrives while it is being processed.
    await makeNumberedVideo(at('long.mp4'), { frames: LONG, ...SIZE });
    await writeFile(at('long.track'), encodeFaceTrack(syntheticTrack({ frames: LONG, ...SIZE, box })));
  });
  afterAll(() => host.kill());

  let tasks = 0;
  const prepare = async (
    features: string,
    { pack = pooled, video = 'video.mp4', track = 'face.track' } = {},
    options: TaskOptions = {},
  ) =>
    host.analyze(
      {
        jobId: `prepare ${tasks++}`,
        analyzer: await packAt(at('packs/analyzer')),
        videoPath: at(video),
        trackPath: at(track),
        reuseTrack: true,
        engines: [{ engine: 'musetalk', pack, featuresPath: at(features) }],
      },
      options,
    );
  /** Renders; resolves to the frames rendered, the frames added to the features, the output, and how long it took. */
  const render = async (audio: string, features?: string) => {
    const { renderedFrames, featuresAdded, timings } = await host.render({
      jobId: `render ${tasks++}`,
      engine: 'musetalk',
      pack: pooled,
      analyzer: await packAt(at('packs/analyzer')),
      videoPath: at('video.mp4'),
      audioPath: at(audio),
      outputPath: at('out.mp4'),
      syncMode: 'loop',
      faceTrackPath: at('face.track'),
      ...(features !== undefined && { featuresPath: at(features) }),
    });
    return { frames: [renderedFrames, featuresAdded], output: await readFile(at('out.mp4')), timings };
  };
  const expectMissing = (features: string) =>
    expect(stat(at(features))).rejects.toMatchObject({ code: 'ENOENT' });

  test('a preparation with a track computes the features of every face, once, and analyzes nothing', async () => {
    const written = (await stat(at('face.track'))).mtimeMs;
    const prepared = await prepare('prepared.features');
    expect(prepared).toMatchObject({ frames: FRAMES, complete: true, featuresAdded: { musetalk: FACES } });
    expect(prepared.graphFailed).toBe(false);
    expect(prepared.timings.analyzeMs).toBe(0);
    expect((await stat(at('prepared.features'))).size).toBe(HEADER + FACES * RECORD);
    expect((await stat(at('face.track'))).mtimeMs).toBe(written);

    const again = await prepare('prepared.features');
    expect(again.featuresAdded).toEqual({ musetalk: 0 });
  });

  test('renders fill the file as far as they go, each frame once; the video is the same, whatever was known of it', async () => {
    const plain = await render('long.wav');
    expect(plain.frames).toEqual([20, 0]);
    // The pack does not ask for the clip's own mouth.
    expect(plain.timings.exemplarsMs).toBe(0);
    await prepare('known.features');
    const prepared = await render('long.wav', 'known.features');
    expect(prepared.frames).toEqual([20, 0]);
    expect((await render('short.wav', 'grown.features')).frames).toEqual([5, 5]);
    const grown = await render('long.wav', 'grown.features');
    expect(grown.frames).toEqual([20, FACES - 5]);
    for (const { output } of [prepared, grown]) expect(output.equals(plain.output)).toBe(true);
  });

  test('a cancelled preparation leaves what it has, and the next one continues from there', async () => {
    const long = { video: 'long.mp4', track: 'long.track' };
    const cancel = new AbortController();
    const stopped = prepare('stopped.features', long, { signal: cancel.signal });
    const cancelling = eventually(async () => {
      // It has something, but not everything yet.
      expect((await stat(at('stopped.features'))).size).toBeGreaterThan(HEADER);
      cancel.abort();
    });
    const [outcome] = await Promise.allSettled([stopped, cancelling]);
    expect(outcome).toMatchObject({ reason: { name: 'InferenceFailure', code: 'cancelled' } });

    const rest = (await prepare('stopped.features', long)).featuresAdded.musetalk ?? 0;
    expect(rest).toBeGreaterThan(0);
    expect(rest).toBeLessThan(LONG);
    await prepare('whole.features', long);
    const [resumed, whole] = [await readFile(at('stopped.features')), await readFile(at('whole.features'))];
    expect(resumed.equals(whole)).toBe(true);
  });

  test('features too large to be worth fetching are not kept', async () => {
    const pack = await packAt(at('packs/builtin-musetalk'));
    expect((await prepare('large.features', { pack })).featuresAdded).toEqual({ musetalk: 0 });
    await expectMissing('large.features');
  });

  test('nothing computed with a replaced pack is stored under the name of the previous one', async () => {
    // The engine's failure may end the preparation or only the engine's part of it.
    const preparing = prepare('replaced.features', { pack: { ...pooled, digest: 'f'.repeat(64) } });
    await Promise.allSettled([preparing]);
    await expectMissing('replaced.features');
  });
});
