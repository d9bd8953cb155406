import { join } from 'node:path';
import { ffmpeg, sayTurned, testFolder } from '@lipsync/testkit';
import { type Binaries, resolveBinaries } from '../ffmpeg/binaries';
import { measureScan } from './decode-check';
import { inspect } from './inspect';
import { probe } from './probe';
import { type Scan } from './stream-info';

const DEADLINE_MS = 60_000;
const SAMPLE = join(__dirname, '../../../../samples/face.mp4');
/** The sample's pictures, shown twice as fast. */
const FIFTY = 'setpts=0.5*PTS,fps=50';
/** How x264 is told that pictures are fields of this order. */
const flag = (order: 'tff' | 'bff'): string[] => ['-flags', '+ildct+ilme', '-x264opts', `${order}=1`];

let binaries: Binaries;
const at = testFolder();

beforeAll(async () => {
  binaries = await resolveBinaries(process.env);
});

/** 24 pictures of standard definition, of a head that moves. */
async function make(name: string, filters: string, options: readonly string[] = []): Promise<string> {
  const file = at(name);
  const encoder = ['-c:v', 'libx264', '-preset', 'superfast', '-pix_fmt', 'yuv420p', ...options];
  const pictures = ['-vf', `scale=360:576,${filters}`, '-frames:v', '24', '-an'];
  await ffmpeg(['-ss', '2', '-i', SAMPLE, ...pictures, ...encoder, file]);
  return file;
}

const flagOf = async (file: string): Promise<Scan | undefined> => (await inspect(binaries, file)).video?.scan;

async function scanOf(file: string): Promise<Scan | undefined> {
  return (await probe(binaries, file, { mediaType: 'video', deadlineMs: DEADLINE_MS })).video?.scan;
}

async function measured(file: string): Promise<Scan> {
  const { video } = await inspect(binaries, file);
  if (video === undefined) throw new Error('there is a video');
  return measureScan(binaries, file, video, { deadlineMs: DEADLINE_MS });
}

describe('the scan of a probed video', () => {
  it.each([
    ['fields that nothing tells of', 'bff', 'progressive', `${FIFTY},tinterlace=interleave_bottom`, []],
    ['fields said to be of the other order', 'tff', 'bff', `${FIFTY},tinterlace=interleave_top`, flag('bff')],
    ['pictures said to be fields', 'progressive', 'tff', 'null', flag('tff')],
    ['25 pictures in 50 fields', 'progressive', 'bff', 'fps=50,tinterlace=interleave_bottom', flag('bff')],
    ['telecined film', 'tff', 'tff', 'fps=24,telecine=top', flag('tff')],
    ['one picture, said to be fields', 'tff', 'tff', 'loop=-1:1:0', flag('tff')],
    ['one picture', 'progressive', 'progressive', 'loop=-1:1:0', []],
  ] as const)('of %s is %s, where the flag says %s', async (name, scan, flagged, filters, options) => {
    const file = await make(`${name}.mp4`, `${filters},setfield=prog`, options);
    expect(await flagOf(file)).toBe(flagged);
    expect(await scanOf(file)).toBe(scan);
  });

  it('is that of the stored pictures if they are shown turned', async () => {
    const [stored, turned] = [
      await make('stored.mp4', `${FIFTY},tinterlace=interleave_top`),
      at('turned.mp4'),
    ];
    await sayTurned(stored, turned, 90);
    expect(await scanOf(turned)).toBe('tff');
    expect(await measured(turned)).toBe('tff');
  });

  it('is measured alike for a stream that was only inspected, however late something moves', async () => {
    const still = 'tpad=start=340:start_mode=clone,tinterlace=interleave_top,settb=1/5,setpts=N';
    const late = await make('late.mp4', `${FIFTY},${still}`, [
      '-fps_mode',
      'passthrough',
      '-frames:v',
      '230',
    ]);
    expect([await scanOf(late), await measured(late)]).toEqual(['tff', 'tff']);
  });
});
