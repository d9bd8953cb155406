import { constantClock } from '@lipsync/domain';
import { encoderArguments, type EncoderSettings } from './encode/encoder-arguments';
import { encoderFor } from './encode/picture-arguments';
import { audioEncoderArguments, copiesAudio } from './encode/sound-arguments';
import { type VideoCodecs } from './ffmpeg/binaries';
import { ffmpegInput, probeInput } from './ffmpeg/input-arguments';
import { confine } from './ffmpeg/sandbox';
import { type AudioStream } from './probe/stream-info';

const AAC = { codec: 'aac', profile: 'LC', sampleRate: 48_000, channels: 2, startSeconds: 0 };

const outputWith = (stream: AudioStream): EncoderSettings => ({
  outputPath: '/out.mp4',
  width: 2,
  height: 2,
  depth: 8,
  clock: constantClock({ num: 25, den: 1 }, 1),
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
    ['AAC with long packets', { stream: { ...AAC, sampleRate: 16_000 } }, true],
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

  const WAV = { codec: 'pcm_s24le', sampleRate: 48_000, channels: 2, startSeconds: 0 };

  it.each([
    ['mono', { ...WAV, channels: 1 }, '-b:a 160000'],
    ['stereo', WAV, '-b:a 320000'],
    ['5.1', { ...WAV, channels: 6 }, '-b:a 960000 -ac 6'],
    ['four channels', { ...WAV, channels: 4 }, '-b:a 320000 -ac 2'],
    ['a high sample rate', { ...WAV, sampleRate: 96_000 }, '-b:a 320000 -ar 48000'],
    ['a language', { ...WAV, language: 'ger' }, '-b:a 320000 -metadata:s:a:0 language=ger'],
    ['what is no language', { ...WAV, language: 'x y' }, '-b:a 320000'],
  ] as const)('of %s that becomes AAC', (_name, stream, ending) => {
    expect(audioEncoderArguments({ path: '/a', stream }).join(' ').endsWith(`-c:a aac ${ending}`)).toBe(true);
  });
});

describe('the pictures of an output', () => {
  const CARD: VideoCodecs = { encoder: 'h264_nvenc', deepEncoder: 'hevc_nvenc', decoder: 'software' };

  it.each([
    ['the card’s, as configured', CARD, 8, 'h264_nvenc'],
    ['the card’s for 10 bits, as configured', CARD, 10, 'hevc_nvenc'],
    ['software’s for 10 bits on a card that has only 8', { ...CARD, deepEncoder: 'libx265' }, 10, 'libx265'],
    ['software’s for 8 bits', { ...CARD, encoder: 'libx264' }, 8, 'libx264'],
  ] as const)('have an encoder: %s', (_name, codecs, depth, encoder) => {
    expect(encoderFor(codecs, { width: 1280, height: 720, depth })).toBe(encoder);
    const software = depth === 8 ? 'libx264' : 'libx265';
    expect(encoderFor(codecs, { width: 254, height: 1280, depth })).toBe(software);
  });

  it('are as good at a higher rate, where encoders would save on each', () => {
    const rateFactor = (fps: number): string | undefined => {
      const clock = constantClock({ num: fps, den: 1 }, 1);
      const args = encoderArguments({ ...outputWith(AAC), clock }, 'libx264', 3);
      return args[args.indexOf('-crf') + 1];
    };
    expect([25, 30, 60].map(rateFactor)).toEqual(['17', '16.4', '14']);
  });

  it.each([
    [8, 'libx264', 'h264_nvenc'],
    [10, 'libx265', 'hevc_nvenc'],
  ] as const)('of %i bits come out alike from both encoders', (depth, software, card) => {
    const stream = { codec: 'flac', sampleRate: 48_000, channels: 2, startSeconds: 0 };
    const color = { range: 'tv', matrix: 'bt709', primaries: 'bt709', transfer: 'bt709' } as const;
    const [soft, hard] = [software, card].map((encoder) => {
      const args = encoderArguments({ ...outputWith(stream), depth, color }, encoder, 3);
      const [from, to] = [args.indexOf('-c:v'), args.indexOf('-fps_mode:v')];
      return { pictures: args.slice(from, to).join(' '), rest: [...args.slice(0, from), ...args.slice(to)] };
    });
    expect(hard?.rest).toEqual(soft?.rest);
    expect(soft?.pictures).toContain('-crf 17');
    expect(hard?.pictures).toContain('-cq 19 -b:v 0');
    for (const encoder of [soft, hard]) expect(encoder?.pictures.includes('-tag:v hvc1')).toBe(depth === 10);
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
