import { constantClock, secondsAt } from '@lipsync/domain';
import {
  ffmpeg,
  makeNumberedVideo,
  type NumberedVideoOptions,
  readFrameNumber,
  testFolder,
  variableRateSeconds,
} from '@lipsync/testkit';
import { outputFormat } from '../encode/output-format';
import { type Binaries, resolveBinaries } from '../ffmpeg/binaries';
import { decodeAll, type DecodedVideo } from '../test/media-files';
import { descriptorsLeftBy } from '../test/tools';
import { openClipReader } from './clip-reader';

const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i);
const X264 = ['-c:v', 'libx264', '-preset', 'ultrafast'];

const at = testFolder();
let binaries: Binaries;

beforeAll(async () => {
  binaries = await resolveBinaries(process.env);
});

async function clipOf(name: string, options: NumberedVideoOptions): Promise<DecodedVideo> {
  await makeNumberedVideo(at(name), options);
  return decodeAll(binaries, at(name));
}

const numbersIn = ({ frames, stream: video }: DecodedVideo): number[] =>
  frames.map((frame) => readFrameNumber(frame, video.width));

describe('a clip', () => {
  it.each([
    ['23.976.mp4', { num: 24_000, den: 1001 }],
    ['30.mkv', { num: 30, den: 1 }],
    ['59.94.mkv', { num: 60_000, den: 1001 }],
  ])('at a constant rate, %s, is every picture once, at exactly that rate', async (name, rate) => {
    const clip = await clipOf(name, { frames: 40, rate: `${rate.num}/${rate.den}`, encoder: X264 });
    expect(numbersIn(clip)).toEqual(upTo(40));
    expect(clip.clock).toEqual(constantClock(rate, 40));
  });

  it('of a telephone is every picture once, at the time that it has, but for a long pause', async () => {
    const clip = await clipOf('telephone.mkv', { frames: 70, variableRate: true, encoder: X264 });
    const own = upTo(clip.frames.length).filter((frame) => clip.held[frame] === 0);
    const numbers = numbersIn(clip);
    expect(own.map((frame) => numbers[frame])).toEqual(upTo(70));
    for (const [picture, frame] of own.entries())
      expect(secondsAt(clip.clock, frame)).toBeCloseTo(
        variableRateSeconds(picture) - variableRateSeconds(0),
        6,
      );
    expect(numbers.filter((number) => number === 49).length).toBeGreaterThan(8);
  });

  it('of a picture per second is 25 frames of each', async () => {
    const clip = await clipOf('slow.mp4', { frames: 3, rate: '1', encoder: X264 });
    expect(numbersIn(clip)).toEqual(upTo(75).map((frame) => Math.floor(frame / 25)));
    expect(upTo(76).map((frame) => secondsAt(clip.clock, frame))).toEqual(upTo(76).map((n) => n / 25));
  });

  it('of 120 pictures per second is every second one', async () => {
    const clip = await clipOf('fast.mkv', { frames: 60, rate: '120', encoder: X264 });
    expect(numbersIn(clip)).toEqual(upTo(30).map((n) => n * 2));
    expect(clip.clock).toEqual({ timescale: 120, ticks: Uint32Array.from(upTo(31), (n) => n * 2) });
  });

  it.each([
    ['top', 'tff', '50'],
    ['bottom', 'bff', '60000/1001'],
  ])('of fields, the %s one first, is a picture of each field, not combed', async (first, scan, rate) => {
    const filters = `tinterlace=interleave_${first},setfield=${scan}`;
    const encoder = [...X264, '-flags', '+ildct+ilme', '-x264opts', `${scan}=1`];
    const clip = await clipOf(`${scan}.mp4`, { frames: 40, rate, filters, encoder });
    expect(clip.stream.scan).toBe(scan);
    // On the lines of the field; for those between, a number that changes with every field looks like a fine pattern.
    const { width } = clip.stream;
    const lines = clip.frames.map((frame, n) => frame.subarray(((n + (scan === 'tff' ? 0 : 1)) % 2) * width));
    expect(lines.map((luma) => readFrameNumber(luma, width))).toEqual(upTo(40));
    const [num = 0, den = 1] = rate.split('/').map(Number);
    expect(clip.clock).toEqual(constantClock({ num, den }, 40));
  });

  it('of fields shows what moves without combs', async () => {
    const moving =
      "color=s=96x64:r=50,format=yuv420p,geq=lum='if(between(X,4*N,4*N+24),235,16)':cb=128:cr=128";
    const fields = `${moving},tinterlace=interleave_top,setfield=tff`;
    const encoder = [...X264, '-crf', '8', '-flags', '+ildct+ilme', '-x264opts', 'tff=1'];
    await ffmpeg(['-f', 'lavfi', '-i', fields, '-frames:v', '8', ...encoder, at('moving.mp4')]);
    const { frames, stream: video } = await decodeAll(binaries, at('moving.mp4'));
    const combs = (luma: Uint8Array): number =>
      upTo(96 * 62).filter((i) => {
        const [above = 0, line = 0, below = 0] = [luma[i], luma[i + 96], luma[i + 192]];
        return Math.min(Math.abs(line - above), Math.abs(line - below)) > 100;
      }).length;
    const woven = await ffmpeg(['-i', at('moving.mp4'), '-f', 'rawvideo', 'pipe:1']);
    expect(combs(woven)).toBeGreaterThan(200);
    expect(frames).toHaveLength(16);
    for (const frame of frames.slice(1, -1)) expect(combs(frame)).toBeLessThan(20);
    expect(video.scan).toBe('tff');
  });

  it('whose container says that the last picture stays shows it until then', async () => {
    await makeNumberedVideo(at('still.mp4'), { frames: 3, encoder: X264 });
    const clip = await decodeAll(binaries, at('still.mp4'), { videoSeconds: 1.08 });
    expect(numbersIn(clip)).toEqual([0, 1, ...upTo(25).map(() => 2)]);
  });

  it('of which only a part is wanted ends there, and says that it goes on', async () => {
    await makeNumberedVideo(at('long.mp4'), { frames: 90, encoder: X264 });
    const { stream: video } = await decodeAll(binaries, at('long.mp4'));
    const layout = { format: 'rgb24', width: 32, height: 32 } as const;
    const read = async (untilSeconds: number): Promise<[frames: number, isComplete: boolean]> => {
      const options = { layout, untilSeconds, deadlineMs: 60_000 };
      const reader = openClipReader(binaries, at('long.mp4'), video, options);
      const frame = new Uint8Array(reader.frameBytes);
      let frames = 0;
      while (await reader.readInto(frame)) frames += 1;
      await reader.close();
      expect(reader.framesUpTo(frames).clock).toEqual(constantClock({ num: 25, den: 1 }, frames));
      return [frames, reader.isComplete()];
    };
    expect(await read(1)).toEqual([25, false]);
    expect(await read(3.6)).toEqual([90, true]);
    expect(await read(Infinity)).toEqual([90, true]);
  });

  it('that is closed in the middle leaves no descriptor open', async () => {
    const { stream: video } = await clipOf('closed.mp4', { frames: 90, encoder: X264 });
    const left = await descriptorsLeftBy(async () => {
      for (let n = 0; n < 3; n += 1) {
        const options = { layout: { format: 'yuv420p' }, deadlineMs: 60_000 } as const;
        const reader = openClipReader(binaries, at('closed.mp4'), video, options);
        expect(await reader.readInto(new Uint8Array(reader.frameBytes))).toBe(true);
        await reader.close();
      }
    });
    expect(left).toBe(0);
  });
});

describe('what frames hold', () => {
  it.each(['smpte2084', 'arib-std-b67'])('SDR again where %s is shown as such', async (transfer) => {
    const steps = "color=s=64x32:r=25,format=yuv420p,geq=lum='16+27*floor(X/8)':cb=128:cr=128";
    const light = 'zscale=tin=bt709:min=bt709:pin=bt709:rin=tv:p=bt2020:t=linear:npl=203,format=gbrpf32le';
    const hdr = `zscale=t=${transfer}:m=bt2020nc:r=tv:npl=203,format=yuv420p10le`;
    const tags = ['-color_primaries', 'bt2020', '-color_trc', transfer, '-colorspace', 'bt2020nc'];
    const encoder = ['-c:v', 'libx265', '-preset', 'ultrafast', '-x265-params', 'log-level=none:crf=4'];
    const source = ['-f', 'lavfi', '-i', `${steps},${light},${hdr}`, '-frames:v', '2'];
    await ffmpeg([...source, ...encoder, ...tags, at('hdr.mp4')]);
    const { stream: video, frames } = await decodeAll(binaries, at('hdr.mp4'), { format: 'yuv420p' });
    expect(outputFormat(video, 'h264').color).toMatchObject({
      matrix: 'bt709',
      transfer: 'bt709',
      range: 'tv',
    });
    const layout = { format: 'rgb24', width: 64, height: 32 } as const;
    const reader = openClipReader(binaries, at('hdr.mp4'), video, { layout, deadlineMs: 60_000 });
    const analyzed = new Uint8Array(reader.frameBytes);
    expect(await reader.readInto(analyzed)).toBe(true);
    await reader.close();
    for (const step of upTo(6)) {
      const inMiddle = 16 * 64 + step * 8 + 4;
      const level = (frames[0]?.[inMiddle] ?? 0) - 16;
      expect(Math.abs(level - 27 * step)).toBeLessThan(6);
      expect(Math.abs((analyzed[inMiddle * 3 + 1] ?? 0) - (27 * step * 255) / 219)).toBeLessThan(20);
    }
  });

  it('ten bits where the source has more than eight', async () => {
    const ramp = 'gradients=s=64x16:c0=black:c1=white:x0=0:y0=0:x1=63:y1=0:n=2,format=yuv420p10le';
    await ffmpeg(['-f', 'lavfi', '-i', ramp, '-frames:v', '2', '-c:v', 'ffv1', at('ramp.mkv')]);
    const wanted = await ffmpeg(['-i', at('ramp.mkv'), '-frames:v', '1', '-f', 'rawvideo', 'pipe:1']);
    const { frames } = await decodeAll(binaries, at('ramp.mkv'));
    expect(Buffer.compare(frames[0] ?? wanted.subarray(1), wanted)).toBe(0);
  });

  it('the opaque parts of a transparent video as they are, on black', async () => {
    const alpha = "geq=lum=lum(X\\,Y):a='if(lt(X,32),255,if(lt(X,48),128,0))'";
    const encoder = '-c:v libvpx-vp9 -lossless 1 -deadline realtime -cpu-used 8'.split(' ');
    const source = ['-f', 'lavfi', '-i', `testsrc2=s=64x64,format=yuva420p,${alpha}`, '-frames:v', '2'];
    await ffmpeg([...source, ...encoder, '-pix_fmt', 'yuva420p', at('alpha.webm')]);
    const { frames, stream: video } = await decodeAll(binaries, at('alpha.webm'));
    expect(video.alpha).toBe(true);
    const plain = await ffmpeg(['-i', at('alpha.webm'), '-frames:v', '1', '-f', 'rawvideo', 'pipe:1']);
    const [composed = new Uint8Array()] = frames;
    const wanted = upTo(64 * 64 * 1.5).map((sample) => {
      const isLuma = sample < 64 * 64;
      const x = isLuma ? sample % 64 : (sample % 32) * 2;
      const share = x < 32 ? 1 : x < 48 ? 128 / 255 : 0;
      const black = isLuma ? 16 : 128;
      return black + ((plain[sample] ?? 0) - black) * share;
    });
    expect([...composed.keys()].filter((i) => Math.abs((composed[i] ?? 0) - (wanted[i] ?? 0)) > 1)).toEqual(
      [],
    );
    const isOpaque = (sample: number): boolean => (sample < 64 * 64 ? sample % 64 : (sample % 32) * 2) < 32;
    expect([...composed.keys()].filter((i) => isOpaque(i) && composed[i] !== plain[i])).toEqual([]);
  });
});
