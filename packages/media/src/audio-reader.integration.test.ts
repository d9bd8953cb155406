import { ffmpeg, testFolder } from '@lipsync/testkit';
import { AUDIO_SAMPLE_RATE, readAudio } from './audio-reader';
import { openClipReader } from './decode/clip-reader';
import { type Binaries, resolveBinaries } from './ffmpeg/binaries';
import { inspect } from './probe/inspect';

const DEADLINE_MS = 60_000;
const SIZE = { width: 64, height: 64 };

describe('sound beside pictures', () => {
  const at = testFolder();
  let binaries: Binaries;
  beforeAll(async () => {
    binaries = await resolveBinaries(process.env);
  });

  test.each([
    ['at once', 0, 0],
    ['a moment after the pictures', 0, 0.06],
    ['long after the pictures', 0, 0.7],
    ['before the pictures', 0.72, 0],
    ['before the pictures, in a file that begins late', 3.2, 2.5],
  ])('that begins %s is read from the first picture on', async (_, pictures, sound) => {
    const file = at('clip.mkv');
    // It sounds from second 4 of the file's clock on.
    const tone = `aevalsrc='if(gt(t,${4 - sound}),sin(2764*t),0)':d=5:s=16000`;
    await ffmpeg([
      ...['-itsoffset', String(pictures), '-f', 'lavfi', '-i', 'testsrc=s=64x64:r=25:d=1'],
      ...['-itsoffset', String(sound), '-f', 'lavfi', '-i', tone],
      ...['-copyts', '-c:v', 'ffv1', '-c:a', 'pcm_s16le', file],
    ]);
    const { video } = await inspect(binaries, file);
    if (video === undefined) throw new Error('there is no video');
    const layout = { format: 'rgb24', ...SIZE } as const;
    const reader = openClipReader(binaries, file, video, { layout, deadlineMs: DEADLINE_MS });
    await reader.readInto(new Uint8Array(reader.frameBytes));
    const fromSeconds = reader.startSeconds();
    await reader.close();
    expect(fromSeconds).toBeCloseTo(pictures, 2);

    const samples = await readAudio(binaries, file, { deadlineMs: DEADLINE_MS, fromSeconds });
    const begins = samples.findIndex((sample) => Math.abs(sample) > 0.1) / AUDIO_SAMPLE_RATE;
    expect(begins).toBeCloseTo(4 - pictures, 2);
  });
});
