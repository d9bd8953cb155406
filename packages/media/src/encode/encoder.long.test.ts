import { readFile } from 'node:fs/promises';
import { constantClock, framesOf as clockFrames } from '@lipsync/domain';
import { ffmpeg, makeTone, testFolder } from '@lipsync/testkit';
import { type Binaries, machineShare, resolveBinaries } from '../ffmpeg/binaries';
import { expectColorKept } from '../test/expect-color-kept';
import { framesOf, passThrough, readClock, soundOf, videoOf } from '../test/media-files';
import { openEncoder } from './encoder';

const DEADLINE_MS = 120_000;

let binaries: Binaries;
const at = testFolder();

beforeAll(async () => {
  binaries = await resolveBinaries(process.env);
  await makeTone(at('tone.m4a'), { seconds: 2 });
});

it.each([
  [
    'limited BT.709',
    ['-color_range', 'tv', '-colorspace', 'bt709', '-color_primaries', 'bt709', '-color_trc', 'bt709'],
  ],
  ['limited BT.601', ['-color_range', 'tv', '-colorspace', 'smpte170m']],
  ['unspecified', []],
])('carries %s color over without touching a sample', (_name, tags) => expectColorKept(binaries, at(), tags));

it.each([
  ['HDR10', 'smpte2084'],
  ['HLG', 'arib-std-b67'],
])(
  'keeps a 10-bit %s picture in its own colors: its 10 bits, and the tags that say what they mean',
  async (_name, transfer) => {
    const tags = `colorprim=bt2020:transfer=${transfer}:colormatrix=bt2020nc:range=limited`;
    const ten = [
      ...'-c:v libx265 -pix_fmt yuv420p10le -x265-params'.split(' '),
      `lossless=1:log-level=none:${tags}`,
    ];
    await ffmpeg(['-f', 'lavfi', '-i', 'testsrc2=s=128x96:r=25', '-frames:v', '5', ...ten, at('hdr.mp4')]);
    await passThrough(binaries, at('hdr.mp4'), at('hdr-out.mp4'), at('tone.m4a'));
    const bt2020 = { matrix: 'bt2020nc', primaries: 'bt2020', transfer, range: 'tv' };
    expect(await videoOf(binaries, at('hdr.mp4'))).toMatchObject({ pixFmt: 'yuv420p10le', color: bt2020 });
    expect(await videoOf(binaries, at('hdr-out.mp4'))).toMatchObject({
      pixFmt: 'yuv420p10le',
      color: bt2020,
    });
    await ffmpeg(['-i', at('hdr.mp4'), '-f', 'rawvideo', at('hdr.yuv')]);
    const stored = await readFile(at('hdr.yuv'));
    const written = Buffer.concat(await framesOf(binaries, at('hdr-out.mp4')));
    let difference = 0;
    for (let i = 0; i < stored.length; i += 2)
      difference += Math.abs(written.readUInt16LE(i) - stored.readUInt16LE(i));
    expect(difference / (stored.length / 2)).toBeLessThan(8);
  },
);

it.each([
  ['8 bits with as many threads as the largest machine gives it', 8, 1024],
  ['8 bits with many cores in a container of 2 GiB', 8, 2],
  ['10 bits with as many threads as the largest machine gives it', 10, 1024],
  ['10 bits with many cores in a container of 4 GiB', 10, 4],
] as const)('has room for the largest pictures of %s', async (_what, depth, gibibytes) => {
  const [size, frames] = [{ width: 4096, height: 2160 }, 48];
  const share = machineShare({ cores: 1024, memoryBytes: gibibytes * 1024 ** 3 }, 1);
  const large = { ...binaries, share };
  const output = at('large-out.mp4');
  const clock = constantClock({ num: 25, den: 1 }, frames);
  const settings = { outputPath: output, ...size, depth, clock, color: {} };
  const sound = { path: at('tone.m4a'), stream: await soundOf(binaries, at('tone.m4a')) };
  const encoder = openEncoder(large, { ...settings, audio: sound }, { deadlineMs: DEADLINE_MS });
  const frame = new Uint8Array(encoder.frameBytes).fill(128);
  for (let i = 0; i < frames; i++) await encoder.write(frame);
  await encoder.finish();

  expect(clockFrames((await readClock(large, output)).clock)).toBe(frames);
});
