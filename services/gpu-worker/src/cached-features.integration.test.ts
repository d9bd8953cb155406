import { readFile, stat, writeFile } from 'node:fs/promises';
import { buildBuiltinPacks } from '@lipsync/builtin-packs';
import { encodeFaceTrack } from '@lipsync/engines';
import { syntheticTrack, writePooledMusetalkPack } from '@lipsync/engines/test';
import { resolveBinaries } from '@lipsync/media';
import { eventually, makeNumberedVideo, makeTone, testFolder } from '@lipsync/testkit';
import { createInferenceHost, type InferenceHost, type TaskOptions } from './host/inference-host';
import { type TaskPack } from './protocol/messages';
import { COMPILED_CHILD, packAt } from './test/real-child';

const SIZE = { width: 256, height: 288 };
const FRAMES = 12;
const FACES = 10;
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
  });
  afterAll(() => host.kill());

  let tasks = 0;
  const prepare = async (features: string, { pack = pooled, child = host } = {}, options: TaskOptions = {}) =>
    child.analyze(
      {
        jobId: `prepare ${tasks++}`,
        analyzer: await packAt(at('packs/analyzer')),
        videoPath: at('video.mp4'),
        trackPath: at('face.track'),
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
    // Hands over nine of the ten frames with a face and never ends: one batch is complete, the next one never.
    const { ffmpeg } = await resolveBinaries(process.env);
    const stalls = `#!/bin/sh
      case "$*" in *rawvideo*) '${ffmpeg}' -t 0.36 "$@"; exec sleep 3600;; esac
      exec '${ffmpeg}' "$@"
    `;
    await writeFile(at('ffmpeg'), stalls, { mode: 0o755 });
    const environment = { ...process.env, FFMPEG_BIN: at('ffmpeg') };
    const stalled = createInferenceHost({ entry: COMPILED_CHILD, environment });
    const cancel = new AbortController();
    const preparing = prepare('stopped.features', { child: stalled }, { signal: cancel.signal });
    const outcome = preparing.catch((error: unknown) => error);
    try {
      await eventually(async () => expect((await stat(at('stopped.features'))).size).toBeGreaterThan(HEADER));
    } finally {
      cancel.abort();
    }
    expect(await outcome).toMatchObject({ name: 'InferenceFailure', code: 'cancelled' });
    stalled.kill();

    const rest = (await prepare('stopped.features')).featuresAdded.musetalk ?? 0;
    expect(rest).toBeGreaterThan(0);
    expect(rest).toBeLessThan(FACES);
    await prepare('whole.features');
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
