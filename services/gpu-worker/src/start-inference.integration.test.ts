import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildAnalyzerPack, buildBuiltinPacks } from '@lipsync/builtin-packs';
import { ENGINES, type SyncMode } from '@lipsync/contract';
import { constantClock, endOf, timelineOf } from '@lipsync/domain';
import {
  type Cover,
  coverOf,
  decodeFaceTrack,
  encodeFaceTrack,
  EXEMPLAR_BYTES,
  EXEMPLAR_SIDE,
  EXEMPLARS,
  landmark,
  type MouthExemplars,
  mouthOpening,
  NO_MOUTHS,
} from '@lipsync/engines';
import { syntheticTrack, writeTinyPacks } from '@lipsync/engines/test';
import { resolveBinaries } from '@lipsync/media';
import {
  ffmpeg,
  frameNumbers,
  lumaPictures,
  lumaPsnr,
  makeNumberedVideo,
  makeTone,
  mediaTiming,
} from '@lipsync/testkit';
import { findPacks } from './host/find-packs';
import { createInferenceHost, type TaskOptions } from './host/inference-host';
import { videoOf } from './inference/local-media';
import { cutMouths } from './inference/pipeline/cut-mouths';
import { type Inference, startInference } from './start-inference';
import { COMPILED_CHILD } from './test/real-child';

const SIZE = { width: 256, height: 288 };
const FRAMES = 12;
const CLOCK = constantClock({ num: 25, den: 1 }, FRAMES);
const BOX = { x1: 60, y1: 110, x2: 190, y2: 260 };
/** Sounds shorter and longer than the video, in seconds; and one whose render does not end by itself for a while. */
const SOUNDS = { short: 0.32, long: 0.8, endless: 60 };

describe('inference on files', () => {
  let folder: string;
  let inference: Inference;
  const at = (name: string): string => join(folder, name);

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'inference-'));
    await buildAnalyzerPack(at('packs/analyzer'));
    await writeTinyPacks(at('packs'));
    inference = await startInference({ packsDir: at('packs'), entry: COMPILED_CHILD });
    // Horizontal stripes below the numbers, so that lips moving up and down change the picture.
    const stripes = "geq=lum='if(gt(Y,100),128+90*sin(Y/3),lum(X,Y))':cb=128:cr=128";
    await makeNumberedVideo(at('video.mp4'), { frames: FRAMES, ...SIZE, filters: stripes });
    for (const [name, seconds] of Object.entries(SOUNDS)) await makeTone(at(`${name}.wav`), { seconds });
    const track = (name: string, hasFace: (frame: number) => boolean, change = {}, cover?: Cover) => {
      const face = syntheticTrack({ frames: FRAMES, ...SIZE, box: BOX, hasFace, ...change });
      const covers = new Map(cover && Array.from({ length: FRAMES }, (_, frame) => [frame, cover]));
      return writeFile(at(name), encodeFaceTrack({ ...face, covers }));
    };
    const always = (): boolean => true;
    await track('face.track', always);
    await track('some.track', (frame) => frame % 6 < 3);
    await track('late.track', (frame) => frame === FRAMES - 1);
    await track('speck.track', always, { box: { x1: 100, y1: 100, x2: 112, y2: 112 } });
    await track(
      'behind.track',
      always,
      {},
      coverOf((_, row) => row > 30),
    );
    await track('other.track', always, { width: 640, height: 360 });
  });
  afterAll(async () => {
    inference.close();
    await rm(folder, { recursive: true, force: true });
  });

  const filesOf = (syncMode: SyncMode, sound: keyof typeof SOUNDS, output: string) => ({
    engine: 'musetalk' as const,
    videoPath: at('video.mp4'),
    audioPath: at(`${sound}.wav`),
    outputPath: at(output),
    syncMode,
  });
  const render = (
    syncMode: SyncMode,
    sound: keyof typeof SOUNDS,
    { track = 'face.track', output = 'out.mp4' } = {},
    options: TaskOptions = {},
  ) => inference.render({ ...filesOf(syncMode, sound, output), faceTrackPath: at(track) }, options);
  const noFace = { code: 'no_face_detected' };

  // sync-modes.long has each mode with both sounds.
  test.each<[SyncMode, 'short' | 'long', number]>([
    ['cut_off', 'short', SOUNDS.short],
    ['cut_off', 'long', FRAMES / 25],
    ['silence', 'short', FRAMES / 25],
    ['loop', 'long', SOUNDS.long],
    ['bounce', 'long', SOUNDS.long],
    ['remap', 'long', SOUNDS.long],
  ])(
    'the output of %s with %s sound shows the source frames of its timeline in sequence, and sounds for %d s',
    async (mode, sound, seconds) => {
      const result = await render(mode, sound, { track: 'some.track' });
      const { sources, clock } = timelineOf(mode, CLOCK, SOUNDS[sound]);
      expect(await frameNumbers(at('out.mp4'), SIZE)).toEqual(sources);
      expect(result).toMatchObject({
        renderedFrames: sources.length,
        outputSeconds: endOf(clock),
        analysis: null,
        gpuInferenceMs: null,
      });
      expect(result.inputAudioSeconds).toBeCloseTo(SOUNDS[sound], 2);
      // One AAC packet is 23 ms; the container rounds to whole packets.
      expect(Math.abs((await mediaTiming(at('out.mp4'))).sound.end - seconds)).toBeLessThan(0.04);
    },
  );

  test('a face changes its lower half, nothing beyond its box, and nothing that lies before it', async () => {
    // Almost unchanged: an output must show a face somewhere.
    await render('cut_off', 'long', { track: 'late.track', output: 'plain.mp4' });
    await buildBuiltinPacks(at('built-in'));
    const builtIn = await startInference({ packsDir: at('built-in'), entry: COMPILED_CHILD });
    const files = { ...filesOf('cut_off', 'long', 'faced.mp4'), faceTrackPath: at('face.track') };
    const behind = { ...files, outputPath: at('behind.mp4'), faceTrackPath: at('behind.track') };
    const { tensorBytes, timings } = await builtIn.render(files);
    await builtIn.render(behind).finally(() => builtIn.close());
    // The pack asks for the clip's own mouth, which no track holds.
    expect(timings.exemplarsMs).toBeGreaterThan(0);
    // Every face leaves the graphs as 256 × 256 floats of three colors at least.
    expect(tensorBytes.received).toBeGreaterThan(FRAMES * 3 * 256 * 256 * 4);
    expect(tensorBytes.given).toBeGreaterThan(tensorBytes.received);
    const pictures = (name: string) => lumaPictures(at(name), SIZE);
    const [plain, faced] = [await pictures('plain.mp4'), await pictures('faced.mp4')];
    const margin = 16; // one macroblock of the encoder
    const box = { x1: BOX.x1 - margin, y1: BOX.y1 - margin, x2: BOX.x2 + margin, y2: BOX.y2 + margin };
    const mouth = { x1: 105, y1: 205, x2: 145, y2: 235 };
    const likeness = (where: Parameters<typeof lumaPsnr>[3], rendered = faced): number[] =>
      plain.map((picture, i) => lumaPsnr(picture, rendered[i] ?? picture, SIZE.width, where));
    expect(Math.min(...likeness({ outside: box }))).toBeGreaterThan(40);
    expect(Math.min(...likeness({ in: mouth }))).toBeLessThan(30);
    // The last one is where the plain output shows a face.
    const behindCover = likeness({ in: mouth }, await pictures('behind.mp4')).slice(0, -1);
    expect(Math.min(...behindCover)).toBeGreaterThan(40);
  });

  test('in music without a voice lips are drawn as in silence', async () => {
    const drawn = async (sound: string): Promise<Uint8Array[]> => {
      const files = { ...filesOf('cut_off', 'long', 'heard.mp4'), faceTrackPath: at('face.track') };
      await inference.render({ ...files, audioPath: at(sound) });
      return lumaPictures(at('heard.mp4'), SIZE);
    };
    // A chord of three notes, four times a second: the built-in hearing network opens the jaw for it.
    const notes = [262, 330, 392].map((hertz) => `sin(2*PI*${hertz}*t)`).join('+');
    for (const [name, value] of [
      ['music.wav', `0.1*pow(max(0,sin(4*PI*t)),2)*(${notes})`],
      ['rest.wav', '0'],
    ] as const)
      await ffmpeg(['-f', 'lavfi', '-i', `aevalsrc='${value}':s=16000:d=0.5`, at(name)]);
    const speech = join(__dirname, '../../../samples/speech.wav');
    await ffmpeg(['-ss', '0.5', '-t', '0.5', '-i', speech, at('voice.wav')]);

    const rest = await drawn('rest.wav');
    // Not `toEqual`, which would describe every pixel of a difference.
    const isSame = async (sound: string): Promise<boolean> =>
      Buffer.concat(await drawn(sound)).equals(Buffer.concat(rest));
    expect(await isSame('music.wav')).toBe(true);
    expect(await isSame('voice.wav')).toBe(false);
  });

  test('software replaces an unavailable GPU codec, and the result says so', async () => {
    const noCard = { VIDEO_ENCODER: 'h264_nvenc', VIDEO_DECODER: 'cuda', CUDA_VISIBLE_DEVICES: '-1' };
    const host = createInferenceHost({ entry: COMPILED_CHILD, environment: { ...process.env, ...noCard } });
    const { engines, analyzer } = await findPacks(at('packs'));
    const pack = engines.get('musetalk');
    if (pack === undefined || analyzer === undefined) throw new Error('no pack');
    const files = { ...filesOf('cut_off', 'short', 'out.mp4'), faceTrackPath: at('face.track') };
    const rendering = host.render({ jobId: 'no-card', pack, analyzer, ...files });
    const result = await rendering.finally(() => host.kill());
    expect(new Set(result.replacedCodecs)).toEqual(new Set(['decoder', 'encoder']));
    expect(result.quality).toMatchObject({ facelessShare: 0, problem: null });
    expect(await lumaPictures(at('out.mp4'), SIZE)).toHaveLength(8);
  });

  test('of a video that outlasts the speech, only the frames that affect the output are analyzed', async () => {
    const videoPath = at('sample.mp4');
    const sample = join(__dirname, '../../../samples/face.mp4');
    await ffmpeg(['-stream_loop', '1', '-i', sample, '-t', '9', '-vf', 'scale=256:256', '-an', videoPath]);
    const whole = await inference.analyze({ videoPath, trackPath: at('whole.track') });
    const result = await inference.render({ ...filesOf('cut_off', 'short', 'part.mp4'), videoPath });

    const { frames = 0, settledSeconds = 0, complete } = result.analysis ?? {};
    expect(frames).toBeGreaterThan(result.renderedFrames);
    expect(frames).toBeLessThan(whole.frames);
    expect([whole.complete, complete]).toEqual([true, false]);
    expect(whole.settledSeconds).toBe(whole.frames / 25);
    expect(settledSeconds).toBeGreaterThanOrEqual(result.outputSeconds);

    const wantedSeconds = result.outputSeconds;
    await inference.analyze({ videoPath, trackPath: at('part.track'), wantedSeconds });
    const [part, all] = await Promise.all(
      ['part.track', 'whole.track'].map(async (name) => decodeFaceTrack(await readFile(at(name)))),
    );
    // 68 points, a time and six bytes per frame: a track holds no pictures.
    expect((await stat(at('whole.track'))).size).toBeLessThan(whole.frames * (68 * 2 * 4 + 10) + 512);
    const settled = result.renderedFrames * 136;
    expect(part?.landmarks.slice(0, settled)).toEqual(all?.landmarks.slice(0, settled));
  });

  test('the video’s own mouth is cut by rising opening, and the same however much was analyzed', async () => {
    const videoPath = at('mouths.mp4');
    const sample = join(__dirname, '../../../samples/face.mp4');
    await ffmpeg(['-i', sample, '-t', '3', '-c', 'copy', '-an', videoPath]);
    const { signal } = new AbortController();
    const job = { binaries: await resolveBinaries(process.env), signal };
    const video = await videoOf(videoPath, job);
    const shown = 20;
    const cuts: MouthExemplars[][] = [];
    for (const wantedSeconds of [shown / 25, Infinity]) {
      await inference.analyze({ videoPath, trackPath: at('mouths.track'), wantedSeconds });
      const track = decodeFaceTrack(await readFile(at('mouths.track')));
      cuts.push(await cutMouths(videoPath, video, track, shown, job));
    }
    const [part = [], whole] = cuts;
    expect(whole).toEqual(part);

    const [{ pictures, landmarks } = NO_MOUTHS, ...more] = part;
    expect(more).toEqual([]);
    expect(pictures).toHaveLength(EXEMPLARS * EXEMPLAR_BYTES);
    const openings: number[] = [];
    for (let i = 0; i < EXEMPLARS; i++) {
      const points = landmarks.subarray(i * 136, (i + 1) * 136);
      openings.push(mouthOpening(points));
      /** How red the picture is between two landmarks. */
      const redness = (from: number, to: number): number => {
        const [a, b] = [landmark(points, from), landmark(points, to)];
        const pixel = Math.round((a.y + b.y) / 2) * EXEMPLAR_SIDE + Math.round((a.x + b.x) / 2);
        const [red = NaN, green = NaN] = [0, 1].map(
          (color) => pictures[i * EXEMPLAR_BYTES + color * EXEMPLAR_SIDE ** 2 + pixel],
        );
        return red / green;
      };
      // The lower lip, between its edges, is redder than the chin.
      expect(redness(66, 57)).toBeGreaterThan(redness(57, 8) * 1.05);
    }
    expect(openings).toEqual([...openings].sort((a, b) => a - b));
  });

  test('a video in which no frame shows a face fails with no_face_detected', async () => {
    await expect(inference.render(filesOf('loop', 'short', 'x.mp4'))).rejects.toMatchObject(noFace);
  });

  test('so does an output that shows none of the faces in the video’s track', async () => {
    await expect(render('cut_off', 'short', { track: 'late.track' })).rejects.toMatchObject(noFace);
  });

  test.each(ENGINES)(
    'so does a face of which too few pixels are visible for %s to render',
    async (engine) => {
      const files = { ...filesOf('cut_off', 'short', 'x.mp4'), faceTrackPath: at('speck.track') };
      await expect(inference.render({ ...files, engine })).rejects.toMatchObject(noFace);
    },
  );

  test('a face track of another video is refused instead of moving lips in the wrong place', async () => {
    const refused = { code: 'engine_failed' };
    await expect(render('loop', 'short', { track: 'other.track' })).rejects.toMatchObject(refused);
  });

  test('cancelling ends a running task and an invalid video fails; the same child serves the next task, and reports its stages in order', async () => {
    const cancel = new AbortController();
    const onStage = (stage: string): void => void (stage === 'inferencing' && cancel.abort());
    const rendering = render('loop', 'endless', {}, { signal: cancel.signal, onProgress: onStage });
    await expect(rendering).rejects.toMatchObject({ name: 'InferenceFailure', code: 'cancelled' });
    const child = inference.pid();

    await writeFile(at('broken.mp4'), 'this is not a video');
    const broken = inference.analyze({ videoPath: at('broken.mp4'), trackPath: at('x.track') });
    await expect(broken).rejects.toMatchObject({ code: 'media_unsupported' });

    const stages = new Set<string>();
    const next = render('loop', 'short', {}, { onProgress: (stage) => stages.add(stage) });
    await expect(next).resolves.toMatchObject({ renderedFrames: 8 });
    expect([...stages]).toEqual(['loading_model', 'inferencing', 'encoding']);
    expect(inference.pid()).toBe(child);
  });
});
