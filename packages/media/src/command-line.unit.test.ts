import { copiesAudio, encoderArguments } from './encoder-arguments';
import { ffmpegInput, probeInput } from './input-arguments';
import { confine } from './sandbox';

const AAC = { codec: 'aac', sampleRate: 48_000, channels: 2, startSeconds: 0 };

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
    ['AAC to be cut', { stream: AAC, trimSeconds: 1 }, false],
    ['AAC to be continued', { stream: AAC, padToSeconds: 9 }, false],
    ['AAC that starts late', { stream: { ...AAC, startSeconds: 0.5 } }, false],
    ['MP3', { stream: { ...AAC, codec: 'mp3' } }, false],
  ])('of %s: copied = %s', (_name, audio, copied) => {
    expect(copiesAudio({ path: '/a', ...audio })).toBe(copied);
  });

  it('is mixed down and slowed to what every player understands', () => {
    const stream = { codec: 'flac', sampleRate: 96_000, channels: 6, startSeconds: 0 };
    const args = encoderArguments({
      ...{ outputPath: '/out.mp4', width: 2, height: 2, frames: 1, color: {} },
      audio: { path: '/a', stream },
    });
    expect(args.join(' ')).toContain('-c:a aac -b:a 192k -ar 48000 -ac 2');
  });
});

describe('confinement', () => {
  const limits = { cpuSeconds: 1.5, memoryBytes: 100, fileBytes: 10 };

  it('leaves the command alone on a machine that offers nothing', () => {
    expect(confine({}, limits, ['/bin/ffmpeg', '-x'])).toEqual(['/bin/ffmpeg', '-x']);
  });

  it('takes away the network and bounds cpu, memory and files where that is possible', () => {
    const command = confine({ unshare: '/u', prlimit: '/p' }, limits, ['/bin/ffmpeg', '-x']);
    expect(command.slice(0, 3)).toEqual(['/u', '-rn', '/p']);
    expect(command).toEqual(expect.arrayContaining(['--cpu=2', '--as=100', '--fsize=10']));
    expect(command.slice(-2)).toEqual(['/bin/ffmpeg', '-x']);
  });
});
