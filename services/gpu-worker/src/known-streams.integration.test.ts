import { chmod, readFile, writeFile } from 'node:fs/promises';
import { buildBuiltinPacks } from '@lipsync/builtin-packs';
import { encodeFaceTrack } from '@lipsync/engines';
import { syntheticTrack } from '@lipsync/engines/test';
import { probe, resolveBinaries } from '@lipsync/media';
import { makeNumberedVideo, makeTone, testFolder } from '@lipsync/testkit';
import { createInferenceHost, type InferenceHost } from './host/inference-host';
import { COMPILED_CHILD, packAt } from './test/real-child';

const SIZE = { width: 192, height: 192 };
const FRAMES = 6;
const DEADLINE_MS = 60_000;

describe('tasks over streams that the ingest has inspected', () => {
  const at = testFolder();
  let host: InferenceHost;

  beforeAll(async () => {
    await buildBuiltinPacks(at('packs'));
    await makeNumberedVideo(at('video.mp4'), { frames: FRAMES, ...SIZE });
    await makeTone(at('sound.wav'), { seconds: FRAMES / 25 });
    const box = { x1: 40, y1: 50, x2: 150, y2: 180 };
    await writeFile(at('face.track'), encodeFaceTrack(syntheticTrack({ frames: FRAMES, ...SIZE, box })));
    const { ffprobe } = await resolveBinaries(process.env);
    await writeFile(at('ffprobe'), `#!/bin/sh\necho start >>'${at('starts')}'\nexec '${ffprobe}' "$@"\n`);
    await chmod(at('ffprobe'), 0o755);
    const environment = { ...process.env, FFPROBE_BIN: at('ffprobe') };
    host = createInferenceHost({ entry: COMPILED_CHILD, environment });
  });
  beforeEach(() => writeFile(at('starts'), ''));
  afterAll(() => host.kill());

  const startsOfFfprobe = async (): Promise<number> =>
    (await readFile(at('starts'), 'utf8')).split('\n').length - 1;

  async function known(name: string, mediaType: 'video' | 'audio') {
    return probe(await resolveBinaries(process.env), at(name), { mediaType, deadlineMs: DEADLINE_MS });
  }

  const taskOf = async () => ({
    jobId: 'j',
    analyzer: await packAt(at('packs/analyzer')),
    videoPath: at('video.mp4'),
  });
  const analyze = async (streams: Awaited<ReturnType<typeof known>>) =>
    host.analyze({ ...(await taskOf()), ...streams, trackPath: at('face.track'), reuseTrack: true });
  const render = async (streams: Awaited<ReturnType<typeof known>>, sound = 'sound.wav') =>
    host.render({
      ...(await taskOf()),
      ...streams,
      engine: 'musetalk',
      pack: await packAt(at('packs/builtin-musetalk')),
      audioPath: at(sound),
      outputPath: at('out.mp4'),
      syncMode: 'cut_off',
      faceTrackPath: at('face.track'),
    });

  test('inspect nothing, neither for an analysis nor for a render', async () => {
    const streams = { ...(await known('video.mp4', 'video')), ...(await known('sound.wav', 'audio')) };
    await analyze(streams);
    await render(streams);
    expect(await startsOfFfprobe()).toBe(0);
  });

  test('inspect each stream where nothing is known, as of an asset of an earlier version', async () => {
    await analyze({});
    await render({});
    expect(await startsOfFfprobe()).toBe(3);
  });

  test('a sound that does not decode after all fails as that, though pictures are under way', async () => {
    const streams = { ...(await known('video.mp4', 'video')), ...(await known('sound.wav', 'audio')) };
    await writeFile(at('broken.wav'), 'no sound');
    await expect(render(streams, 'broken.wav')).rejects.toMatchObject({ code: 'media_corrupt' });
    await render(streams);
  });
});
