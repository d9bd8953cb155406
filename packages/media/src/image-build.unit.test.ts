import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { constantClock } from '@lipsync/domain';
import { decoderArguments } from './decode/decoder-arguments';
import { encoderArguments } from './encode/encoder-arguments';
import { ENCODER_DEPTH } from './ffmpeg/binaries';
import { probeInput } from './ffmpeg/input-arguments';
import { AUDIO_CODECS, VIDEO_CODECS } from './probe/media-limits';
import { FIELD_DETECTION } from './probe/scan';
import { type VideoStream } from './probe/stream-info';

const THREADS = 1;

/** What the images' ffmpeg is built with; a missing part would show only when a customer's file needs it. */
const script = readFileSync(join(__dirname, '../../../deploy/docker/ffmpeg.sh'), 'utf8');

function enabled(part: string): Set<string> {
  const lists = [...script.matchAll(new RegExp(`--enable-${part}=([\\w,]+)`, 'g'))];
  return new Set(lists.flatMap(([, names = '']) => names.split(',').filter((name) => name !== '')));
}

/** Decoders that go by another name than their codec. */
const DECODERS: Readonly<Record<string, string>> = { av1: 'libdav1d', mp3: 'mp3float', mp2: 'mp2float' };
const decoderOf = (codec: string): string => DECODERS[codec] ?? codec;

const VIDEO: VideoStream = {
  codec: 'h264',
  width: 5,
  height: 5,
  fps: 25,
  rate: { num: 25, den: 1 },
  scan: 'progressive',
  pixFmt: 'yuv420p',
  depth: 8,
  alpha: false,
  hdr: {},
  upright: [],
  color: { range: 'tv', matrix: 'bt709' },
  pixelAspect: { num: 1, den: 1 },
  timeBase: { num: 1, den: 25 },
};
const UNUSUAL: VideoStream = { ...VIDEO, scan: 'tff', alpha: true, color: { transfer: 'smpte2084' } };
const AUDIO = { codec: 'mp3', sampleRate: 48_000, channels: 2, startSeconds: 0 };

/** Names of the filters after -vf and -af. */
function filtersIn(args: readonly string[]): string[] {
  return args.flatMap((arg, i) =>
    ['-vf', '-af'].includes(args[i - 1] ?? '')
      ? arg.split(/(?<!\\)[,;]/).map((filter) => filter.replaceAll(/\[[\w:]+\]/g, '').split('=')[0] ?? '')
      : [],
  );
}

describe('the ffmpeg of the images', () => {
  it('opens the containers that customers may send, and no others', () => {
    const args = probeInput('/in');
    const formats = (args[args.indexOf('-format_whitelist') + 1] ?? '').split(',');
    // One demuxer reads Matroska and WebM; in the former the renderer's pictures come.
    const demuxers = new Set(formats.filter((name) => name !== 'webm'));
    expect(enabled('demuxer')).toEqual(demuxers);
    expect(enabled('protocol')).toEqual(new Set(['file', 'pipe']));
    expect(script).toContain('--disable-network');
  });

  it('decodes every accepted codec', () => {
    const decoders = enabled('decoder');
    for (const codec of [...VIDEO_CODECS.keys(), ...AUDIO_CODECS.keys()])
      expect(decoders).toContain(decoderOf(codec));
    // They notice damage that ffmpeg's own decoders conceal (decode-check.ts).
    for (const strict of ['libvpx_vp8', 'libvpx_vp9']) expect(decoders).toContain(strict);
    // Uncompressed sound has too many codec names to list: they come from ffmpeg's own table.
    expect(script).toContain('"$(pcm decoder)"');
  });

  it('has every filter, encoder and muxer that is asked for', () => {
    const settings = {
      outputPath: '/out.mp4',
      width: 4,
      height: 4,
      depth: 8 as const,
      clock: constantClock({ num: 25, den: 1 }, 1),
      color: { range: 'tv' as const },
    };
    const padded = { path: '/a', stream: AUDIO, padToSeconds: 9, trimSeconds: 8 };
    const runs = [
      ...[VIDEO, UNUSUAL].flatMap((video) =>
        ([{ format: 'yuv420p' }, { format: 'rgb24', width: 2, height: 2 }] as const).map((layout) =>
          decoderArguments({ file: '/in', video, layout, decoder: 'software', timed: true }, THREADS),
        ),
      ),
      encoderArguments({ ...settings, audio: padded }, 'libx264', THREADS),
      encoderArguments({ ...settings, audio: padded }, 'h264_nvenc', THREADS),
    ];
    runs.push(['-vf', FIELD_DETECTION]);
    const filters = enabled('filter');
    for (const name of runs.flatMap(filtersIn)) expect(filters).toContain(name);
    expect(filters).toContain('aresample');
    // Filters that ffmpeg adds itself: those that turn pictures upright, and the defaults where no filter is named.
    for (const name of ['transpose', 'hflip', 'vflip', 'rotate', 'null', 'anull', 'aformat'])
      expect(filters).toContain(name);
    for (const name of [...Object.keys(ENCODER_DEPTH), 'aac']) expect(enabled('encoder')).toContain(name);
    expect(enabled('bsf')).toContain('setts');
    for (const name of ['mp4', 'rawvideo', 'null', 'pcm_f32le']) expect(enabled('muxer')).toContain(name);
  });
});
