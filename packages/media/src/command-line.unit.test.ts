import {
  copiesAudio,
  encoderArguments,
  encoderForSize,
  type EncoderSettings,
} from './encode/encoder-arguments';
import { ffmpegInput, probeInput } from './ffmpeg/input-arguments';
import { confine } from './ffmpeg/sandbox';
import { type AudioStream } from './probe/stream-info';

const AAC = { codec: 'aac', profile: 'LC', sampleRate: 48_000, channels: 2, startSeconds: 0 };

const outputWith = (stream: AudioStream): EncoderSettings => ({
  outputPath: '/out.mp4',
  width: 2,
  height: 2,
  frames: 1,
  color: {},
  audio: { path: '/a', stream },
});

describe('the command line around customer bytes', () => {
  it.each([probeInput('/jobs/7/-i'), ffmpegInput('/jobs/7/-i')])(
    'names the file as file:NAME, so that no name is an option or a scheme',
    (...args) => {
      expect(args).toContain('file:-i');
      expect(args).not.toContain('-i /jobs');
    },
  );

  it.each([probeInput('/jobs/7/in'), ffmpegInput('/jobs/7/in')])(
    'allows local files and plain containers only',
    (...args) => {
      expect(args[args.indexOf('-protocol_whitelist') + 1]).toBe('file');
      const formats = args[args.indexOf('-format_whitelist') + 1] ?? '';
      expect(formats.split(',').filter((name) => /hls|concat|sdp|dash|image|lavfi/.test(name))).toEqual([]);
      expect(args).toContain('-max_pixels');
    },
  );

  it('puts the whitelists before the input they guard', () => {
    const args = ffmpegInput('/jobs/7/in', ['-ss', '3']);
    expect(args.indexOf('-format_whitelist')).toBeLessThan(args.indexOf('-i'));
    expect(args.indexOf('-ss')).toBeLessThan(args.indexOf('-i'));
  });
});

describe('the sound of an output', () => {
  it.each([
    ['whole AAC', { stream: AAC }, true],
    ['AAC to be cut', { stream: AAC, trimSeconds: 1 }, true],
    ['AAC with packets longer than a frame', { stream: { ...AAC, sampleRate: 16_000 } }, true],
    ['such AAC to be cut', { stream: { ...AAC, sampleRate: 16_000 }, trimSeconds: 1 }, false],
    ['HE-AAC', { stream: { ...AAC, profile: 'HE-AAC' } }, true],
    ['HE-AAC to be cut', { stream: { ...AAC, profile: 'HE-AAC' }, trimSeconds: 1 }, false],
    ['AAC to be continued', { stream: AAC, padToSeconds: 9 }, false],
    ['AAC that starts late', { stream: { ...AAC, startSeconds: 0.5 } }, true],
    ['AAC of a profile that few players know', { stream: { ...AAC, profile: 'LTP' } }, false],
    ['MP3', { stream: { ...AAC, codec: 'mp3' } }, false],
    ['Opus', { stream: { ...AAC, codec: 'opus' } }, false],
    ['ALAC', { stream: { ...AAC, codec: 'alac' } }, false],
  ])('of %s: copied = %s', (_name, audio, copied) => {
    expect(copiesAudio({ path: '/a', ...audio })).toBe(copied);
  });
});

describe('the pictures of an output', () => {
  it('are encoded on the card when that is configured and they are large enough for it', () => {
    expect(encoderForSize('h264_nvenc', 1280, 720)).toBe('h264_nvenc');
    expect(encoderForSize('h264_nvenc', 254, 1280)).toBe('libx264');
    expect(encoderForSize('libx264', 1280, 720)).toBe('libx264');
  });

  it('come out alike from both encoders: same tags, same sampling, constant quality', () => {
    const stream = { codec: 'flac', sampleRate: 48_000, channels: 2, startSeconds: 0 };
    const color = { range: 'tv', matrix: 'bt709', primaries: 'bt709', transfer: 'bt709' } as const;
    const [soft, hard] = (['libx264', 'h264_nvenc'] as const).map((encoder) => {
      const args = encoderArguments({ ...outputWith(stream), color }, encoder, 3);
      const [from, to] = [args.indexOf('-c:v'), args.indexOf('-pix_fmt')];
      return { pictures: args.slice(from, to).join(' '), rest: [...args.slice(0, from), ...args.slice(to)] };
    });
    expect(hard?.rest).toEqual(soft?.rest);
    expect(soft?.pictures).toContain('-crf 17');
    expect(hard?.pictures).toContain('-cq 19 -b:v 0');
  });
});

describe('confinement', () => {
  const limits = { cpuSeconds: 1.5, memoryBytes: 100, fileBytes: 10, openFiles: 5 };

  it('leaves the command alone on a machine that offers nothing', () => {
    expect(confine({}, limits, ['/bin/ffmpeg', '-x'])).toEqual(['/bin/ffmpeg', '-x']);
  });

  it('takes away the network and bounds cpu, memory and files where that is possible', () => {
    const command = confine({ offline: ['/u', '-rn'], prlimit: '/p' }, limits, ['/bin/ffmpeg', '-x']);
    expect(command.slice(0, 3)).toEqual(['/u', '-rn', '/p']);
    expect(command).toEqual(expect.arrayContaining(['--cpu=2', '--data=100', '--fsize=10', '--nofile=5']));
    expect(command.slice(-2)).toEqual(['/bin/ffmpeg', '-x']);
  });
});
