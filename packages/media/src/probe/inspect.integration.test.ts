import { ffmpeg, testFolder } from '@lipsync/testkit';
import { type Binaries, resolveBinaries } from '../ffmpeg/binaries';
import { inspect } from './inspect';

let binaries: Binaries;
const at = testFolder();

beforeAll(async () => {
  binaries = await resolveBinaries(process.env);
});

const pictures = (rate: string): string[] => ['-f', 'lavfi', '-i', `testsrc2=s=64x64:r=${rate}:d=0.4`];
const H264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p'];

const PQ = 'colorprim=bt2020:transfer=smpte2084:colormatrix=bt2020nc';
const GRADED =
  'hdr10=1:max-cll=1000,400:master-display=G(13250,34500)B(7500,3000)R(34000,16000)WP(15635,16450)L(10000000,1)';
const hevc = (parameters: string): string[] => [
  ...['-c:v', 'libx265', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p10le', '-tag:v', 'hvc1'],
  ...['-x265-params', `log-level=none:${parameters}`],
];

describe('inspect', () => {
  it('finds the mastering display and light of PQ video in its first picture, if there are any', async () => {
    await ffmpeg([...pictures('24000/1001'), ...hevc(`${PQ}:${GRADED}`), at('pq.mp4')]);
    await ffmpeg([...pictures('24'), ...hevc(PQ), at('ungraded.mp4')]);
    const { video } = await inspect(binaries, at('pq.mp4'));
    expect(video).toMatchObject({ depth: 10, rate: { num: 24_000, den: 1001 }, alpha: false });
    expect(video?.hdr).toEqual({
      masteringDisplay: {
        red: [34_000, 16_000],
        green: [13_250, 34_500],
        blue: [7_500, 3_000],
        white: [15_635, 16_450],
        luminance: { min: 1, max: 10_000_000 },
      },
      contentLight: { maxCll: 1000, maxFall: 400 },
    });
    expect((await inspect(binaries, at('ungraded.mp4'))).video?.hdr).toEqual({});
  });

  it('reads timecode and language, from QuickTime and Matroska', async () => {
    const tone = ['-f', 'lavfi', '-i', 'sine=duration=0.4', '-metadata:s:a:0', 'language=ger'];
    await ffmpeg([
      ...pictures('30000/1001'),
      ...tone,
      ...H264,
      ...['-timecode', '01:00:00;00', at('timecode.mov')],
    ]);
    await ffmpeg(['-i', at('timecode.mov'), '-map', '0:v', '-map', '0:a', '-c', 'copy', at('timecode.mkv')]);
    for (const name of ['timecode.mov', 'timecode.mkv']) {
      const { video, audio } = await inspect(binaries, at(name));
      expect(video).toMatchObject({ timecode: '01:00:00;00', rate: { num: 30_000, den: 1001 }, depth: 8 });
      expect(audio?.language).toBe('ger');
    }
  });

  it('claims no constant rate for pictures at uneven times', async () => {
    const uneven = ['-vf', 'setpts=(N+gt(N\\,5)*7)/30/TB', '-fps_mode', 'passthrough'];
    await ffmpeg([...pictures('30'), ...uneven, ...H264, at('uneven.mp4')]);
    expect((await inspect(binaries, at('uneven.mp4'))).video?.rate).toBeNull();
  });

  it('sees that VP9 has alpha, which its pixel format does not say', async () => {
    const vp9 = ['-c:v', 'libvpx-vp9', '-cpu-used', '8', '-pix_fmt', 'yuva420p'];
    await ffmpeg([...pictures('25'), '-vf', 'format=yuva420p', ...vp9, at('alpha.webm')]);
    expect((await inspect(binaries, at('alpha.webm'))).video).toMatchObject({ alpha: true });
  });

  it('reads the flagged field order', async () => {
    const fields = ['-vf', 'tinterlace=interleave_bottom,setfield=bff', '-x264opts', 'bff=1'];
    await ffmpeg([...pictures('50'), ...fields, ...H264, at('bottom-first.mp4')]);
    expect((await inspect(binaries, at('bottom-first.mp4'))).video?.scan).toBe('bff');
  });
});
