import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type NumberedVideoOptions } from '@lipsync/testkit';
import { type Binaries, resolveBinaries } from '../ffmpeg/binaries';
import {
  expectExactBackwards,
  expectExactSingles,
  expectExactTimelines,
  type FrameSample,
  makeFrameSamples,
} from '../test/frame-samples';

/** frame-source.integration has a constant and a variable rate. */
const SOURCES: Record<string, NumberedVideoOptions & { container: string }> = {
  '25 fps with B-frames': { container: 'mp4', frames: 170 },
  '29.97 fps': { container: 'mp4', frames: 200, rate: '30000/1001' },
  '60 fps': { container: 'mp4', frames: 720, rate: '60' },
  '15 fps in Matroska': { container: 'mkv', frames: 100, rate: '15' },
  'VP8 in WebM': {
    container: 'webm',
    frames: 130,
    rate: '24',
    encoder: ['-c:v', 'libvpx', '-g', '50', '-deadline', 'realtime', '-b:v', '1M'],
  },
  'HEVC with open groups': {
    container: 'mp4',
    frames: 140,
    width: 192,
    height: 96,
    encoder:
      '-c:v libx265 -preset ultrafast -x265-params keyint=40:open-gop=1:bframes=4:log-level=none'.split(' '),
  },
};

describe.each(Object.entries(SOURCES))('frames of %s', (name, options) => {
  let folder: string;
  let binaries: Binaries;
  let sample: FrameSample;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'frame-source-'));
    binaries = await resolveBinaries(process.env);
    sample = (await makeFrameSamples(binaries, folder, { [name]: options }))(name);
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  it('are those of the plain decode on every timeline', () => expectExactTimelines(binaries, sample));

  it('are those of the plain decode when only a few are asked for', () =>
    expectExactSingles(binaries, sample));

  it('are those of the plain decode backwards from many keyframes', () =>
    expectExactBackwards(binaries, sample));
});
