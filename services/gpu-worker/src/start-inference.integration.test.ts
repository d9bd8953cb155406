import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ENGINES, SYNC_MODES, type SyncMode } from '@lipsync/contract';
import { outputFrameCount, sourceFrameIndex } from '@lipsync/domain';
import { buildBuiltinPacks, encodeFaceTrack } from '@lipsync/engines';
import { syntheticTrack } from '@lipsync/engines/test';
import { type Binaries, inspect, openFrameReader, readAudio, resolveBinaries } from '@lipsync/media';
import { makeNumberedVideo, makeTone, readFrameNumber } from '@lipsync/testkit';
import { findPacks } from './host/find-packs';
import { createInferenceHost } from './host/inference-host';
import { type Inference, startInference } from './start-inference';
import { COMPILED_CHILD } from './test/compiled';

const SIZE = { width: 256, height: 288 };
const FRAMES = 30;
const BOX = { x1: 60, y1: 110, x2: 190, y2: 260 };

describe('inference on files', () => {
  let folder: string;
  let inference: Inference;
  let binaries: Binaries;
  const at = (name: string): string => join(folder, name);

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'inference-'));
    const { FFMPEG_BIN, FFPROBE_BIN, PATH } = process.env;
    binaries = await resolveBinaries({ FFMPEG_BIN, FFPROBE_BIN, PATH });
    await buildBuiltinPacks(at('packs'));
    inference = await startInference({ packsDir: at('packs'), entry: COMPILED_CHILD });
    // Horizontal stripes below the numbers, so that lips moving up and down change the picture.
    const stripes = "geq=lum='if(gt(Y,100),128+90*sin(Y/3),lum(X,Y))':cb=128:cr=128";
    await makeNumberedVideo(at('video.mp4'), { frames: FRAMES, ...SIZE, filters: stripes });
    await makeTone(at('short.wav'), { seconds: 0.72 });
    await makeTone(at('long.wav'), { seconds: 2.61 });
    const track = (name: string, hasFace: (frame: number) => boolean): Promise<void> =>
      writeFile(at(name), encodeFaceTrack(syntheticTrack({ frames: FRAMES, ...SIZE, box: BOX, hasFace })));
    await track('face.track', () => true);
    await track('some.track', (frame) => frame % 10 < 5);
    await track('late.track', (frame) => frame >= FRAMES - 3);
  }, 60_000);
  afterAll(async () => {
    inference.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function render(syncMode: SyncMode, audio: string, track: string, output: string) {
    return inference.render({
      engine: 'musetalk',
      videoPath: at('video.mp4'),
      audioPath: at(audio),
      faceTrackPath: at(track),
      outputPath: at(output),
      syncMode,
    });
  }

  async function framesOf(file: string): Promise<Uint8Array[]> {
    const { video } = await inspect(binaries, file);
    if (!video) throw new Error('the output has no picture');
    const options = { layout: { format: 'yuv420p' }, deadlineMs: 60_000 } as const;
    const reader = openFrameReader(binaries, file, video, options);
    const frames: Uint8Array[] = [];
    for (;;) {
      const frame = new Uint8Array(reader.frameBytes);
      if (!(await reader.readInto(frame))) break;
      frames.push(frame);
    }
    await reader.close();
    return frames;
  }

  // Sounds shorter and longer than the video; sync-modes.long has each mode with both.
  const cases = [
    { mode: 'cut_off' as const, audio: 'short.wav', audioSeconds: 0.72 },
    ...SYNC_MODES.map((mode) => ({ mode, audio: 'long.wav', audioSeconds: 2.61 })),
  ];
  test.each(cases)(
    'the output of $mode with $audio shows the source frames of its timeline in sequence',
    async ({ mode, audio, audioSeconds }) => {
      const output = `${mode}-${audio}.mp4`;
      const result = await render(mode, audio, 'some.track', output);

      const outputFrames = outputFrameCount(mode, FRAMES, audioSeconds);
      const timeline = Array.from({ length: outputFrames }, (_, i) =>
        sourceFrameIndex(mode, i, { videoFrames: FRAMES, outputFrames }),
      );
      const frames = await framesOf(at(output));
      expect(frames.map((frame) => readFrameNumber(frame, SIZE.width))).toEqual(timeline);
      expect(result).toMatchObject({
        renderedFrames: outputFrames,
        outputSeconds: outputFrames / 25,
        analysis: null,
        gpuInferenceMs: null,
      });
      expect(result.inputAudioSeconds).toBeCloseTo(audioSeconds, 2);
    },
    60_000,
  );

  test.each<[SyncMode, string, number]>([
    ['bounce', 'long.wav', 2.61],
    ['cut_off', 'long.wav', 1.2],
    ['silence', 'short.wav', 1.2],
    ['remap', 'short.wav', 0.72],
  ])('the sound of %s with %s lasts %d s', async (mode, audio, seconds) => {
    await render(mode, audio, 'face.track', 'sound.mp4');
    const samples = await readAudio(binaries, at('sound.mp4'), { deadlineMs: 60_000 });
    // One AAC packet is 23 ms; the container rounds to whole packets.
    expect(Math.abs(samples.length / 16_000 - seconds)).toBeLessThan(0.04);
  });

  test('a face changes its lower half and nothing beyond its box', async () => {
    // Almost unchanged: an output must show a face somewhere.
    await render('cut_off', 'long.wav', 'late.track', 'plain.mp4');
    await render('cut_off', 'long.wav', 'face.track', 'faced.mp4');
    const plain = await framesOf(at('plain.mp4'));
    const faced = await framesOf(at('faced.mp4'));

    const margin = 16; // one macroblock of the encoder
    const inBox = (x: number, y: number): boolean =>
      x >= BOX.x1 - margin && x < BOX.x2 + margin && y >= BOX.y1 - margin && y < BOX.y2 + margin;
    expect(psnr(plain, faced, (x, y) => !inBox(x, y))).toBeGreaterThan(45);
    const mouth = (x: number, y: number): boolean => x >= 105 && x < 145 && y >= 205 && y < 235;
    expect(psnr(plain, faced, mouth)).toBeLessThan(30);
  }, 60_000);

  test('software replaces an unavailable GPU codec, and the result says so', async () => {
    const noCard = { VIDEO_ENCODER: 'h264_nvenc', VIDEO_DECODER: 'cuda', CUDA_VISIBLE_DEVICES: '-1' };
    const host = createInferenceHost({ entry: COMPILED_CHILD, environment: { ...process.env, ...noCard } });
    const { analyzer, engines } = await findPacks(at('packs'));
    const pack = engines.get('musetalk');
    if (analyzer === undefined || pack === undefined) throw new Error('no packs');
    const rendering = host.render({
      jobId: 'no-card',
      engine: 'musetalk',
      syncMode: 'cut_off',
      pack,
      analyzer,
      videoPath: at('video.mp4'),
      audioPath: at('short.wav'),
      faceTrackPath: at('face.track'),
      outputPath: at('no-card.mp4'),
    });
    const result = await rendering.finally(() => host.kill());
    expect([...result.replacedCodecs].sort()).toEqual(['decoder', 'encoder']);
    expect(await framesOf(at('no-card.mp4'))).toHaveLength(18);
  });

  test('of a video that outlasts the speech, only the frames that affect the output are analyzed', async () => {
    const files = {
      engine: 'musetalk',
      videoPath: join(__dirname, '../../../samples/face.mp4'),
      audioPath: at('short.wav'),
    } as const;
    const { videoPath } = files;
    const whole = await inference.analyze({ videoPath, trackPath: at('whole.track') });
    await inference.render({
      ...files,
      syncMode: 'cut_off',
      faceTrackPath: at('whole.track'),
      outputPath: at('whole.mp4'),
    });
    const result = await inference.render({ ...files, syncMode: 'cut_off', outputPath: at('part.mp4') });

    const looked = result.analysis?.frames ?? 0;
    expect(looked).toBeGreaterThan(result.renderedFrames);
    expect(looked).toBeLessThan(whole.frames / 2);
    expect([whole.complete, result.analysis?.complete]).toEqual([true, false]);
    expect(whole.settledFrames).toBe(whole.frames);
    expect(result.analysis?.settledFrames).toBeGreaterThanOrEqual(result.renderedFrames);
    expect(await framesOf(at('part.mp4'))).toEqual(await framesOf(at('whole.mp4')));
  }, 60_000);

  test('a video in which no frame shows a face fails with no_face_detected', async () => {
    const files = { engine: 'musetalk', syncMode: 'loop', videoPath: at('video.mp4') } as const;
    const rendering = inference.render({ ...files, audioPath: at('short.wav'), outputPath: at('x.mp4') });
    await expect(rendering).rejects.toMatchObject({ code: 'no_face_detected' });
    await expect(
      inference.analyze({ videoPath: at('video.mp4'), trackPath: at('x.track') }),
    ).rejects.toMatchObject({
      code: 'no_face_detected',
    });
  }, 60_000);

  test('so does an output that shows none of the faces in the video’s track', async () => {
    await expect(render('cut_off', 'short.wav', 'late.track', 'none.mp4')).rejects.toMatchObject({
      code: 'no_face_detected',
    });
  });

  test.each(ENGINES)(
    'so does a face of which too few pixels are visible for %s to render',
    async (engine) => {
      const speck = { x1: 100, y1: 100, x2: 112, y2: 112 };
      await writeFile(
        at('speck.track'),
        encodeFaceTrack(syntheticTrack({ frames: FRAMES, ...SIZE, box: speck })),
      );
      const rendering = inference.render({
        engine,
        syncMode: 'cut_off',
        videoPath: at('video.mp4'),
        audioPath: at('short.wav'),
        faceTrackPath: at('speck.track'),
        outputPath: at(`speck-${engine}.mp4`),
      });
      await expect(rendering).rejects.toMatchObject({ code: 'no_face_detected' });
    },
  );

  test('an invalid video fails with media_unsupported, and the next task is served', async () => {
    await writeFile(at('broken.mp4'), 'this is not a video');
    await expect(
      inference.analyze({ videoPath: at('broken.mp4'), trackPath: at('x.track') }),
    ).rejects.toMatchObject({
      code: 'media_unsupported',
    });
    await expect(render('loop', 'short.wav', 'face.track', 'after.mp4')).resolves.toMatchObject({
      renderedFrames: 18,
    });
  }, 60_000);

  test('a face track of another video is refused instead of moving lips in the wrong place', async () => {
    const other = syntheticTrack({ frames: FRAMES, width: 640, height: 360, box: BOX });
    await writeFile(at('other.track'), encodeFaceTrack(other));
    await expect(render('loop', 'short.wav', 'other.track', 'x.mp4')).rejects.toMatchObject({
      code: 'engine_failed',
    });
  });

  test('progress reports the stages in order and never falls within one', async () => {
    const steps: { stage: string; percent: number }[] = [];
    await inference.render(
      {
        engine: 'musetalk',
        videoPath: at('video.mp4'),
        audioPath: at('long.wav'),
        faceTrackPath: at('face.track'),
        outputPath: at('progress.mp4'),
        syncMode: 'loop',
      },
      { onProgress: (stage, percent) => steps.push({ stage, percent }) },
    );
    expect([...new Set(steps.map(({ stage }) => stage))]).toEqual([
      'loading_model',
      'inferencing',
      'encoding',
    ]);
    const inferencing = steps.filter(({ stage }) => stage === 'inferencing').map(({ percent }) => percent);
    expect(inferencing.length).toBeGreaterThan(1);
    expect(inferencing).toEqual([...inferencing].sort((a, b) => a - b));
  }, 60_000);

  test('cancelling ends a running task, and the same child serves the next one', async () => {
    const cancel = new AbortController();
    const rendering = inference.render(
      {
        engine: 'musetalk',
        videoPath: at('video.mp4'),
        audioPath: at('long.wav'),
        faceTrackPath: at('face.track'),
        outputPath: at('cancelled.mp4'),
        syncMode: 'loop',
      },
      { signal: cancel.signal, onProgress: (stage) => stage === 'inferencing' && cancel.abort() },
    );
    await expect(rendering).rejects.toMatchObject({ name: 'InferenceFailure', code: 'cancelled' });
    await expect(render('loop', 'short.wav', 'face.track', 'next.mp4')).resolves.toMatchObject({
      renderedFrames: 18,
    });
  }, 60_000);
});

/** PSNR of the luma inside `area` over all frames, in dB; 99 when there is no difference. */
function psnr(
  a: readonly Uint8Array[],
  b: readonly Uint8Array[],
  area: (x: number, y: number) => boolean,
): number {
  let sum = 0;
  let count = 0;
  a.forEach((frame, i) => {
    for (let y = 0; y < SIZE.height; y++) {
      for (let x = 0; x < SIZE.width; x++) {
        if (!area(x, y)) continue;
        const place = y * SIZE.width + x;
        sum += ((frame[place] ?? 0) - (b[i]?.[place] ?? 0)) ** 2;
        count++;
      }
    }
  });
  return sum === 0 ? 99 : 10 * Math.log10(255 ** 2 / (sum / count));
}
