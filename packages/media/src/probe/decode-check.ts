import { dirname } from 'node:path';
import { type Binaries } from '../ffmpeg/binaries';
import { FFMPEG_GLOBAL, ffmpegInput } from '../ffmpeg/input-arguments';
import { type ChildOptions, DEMUXING_MEMORY_BYTES, runToEnd } from '../ffmpeg/media-child';
import { MediaError, MediaProcessError } from '../media-error';
import { countFields, FIELD_DETECTION, type FieldCounts, scanOf } from './scan';
import { type Scan, type VideoStream } from './stream-info';

/** Share of pictures that may fail to decode: a scratch in a long recording is usable, a broken file is not. */
const ERROR_RATE_MAX = 0.02;
/**
 * Packets may also yield no picture without an error: hidden reference pictures (VP8), and the leading pictures of a
 * cut made without re-encoding. These do not explain a file in which more than half of the packets yield none.
 */
const DECODED_SHARE_MIN = 0.5;
/**
 * With concealment off, these decoders drop every picture up to the next keyframe over one error that no player minds:
 * a reference missing after a cut or a lost packet, or a malformed message from a camera. What they refuse is decoded
 * once more with concealment, which H.264's decoder reports.
 */
const OVERSTRICT: ReadonlySet<string> = new Set(['h264', 'hevc']);
const CONCEALED = 'concealing ';

/**
 * Decoders that notice damage which ffmpeg's own do not: the entropy coding of VP8 and VP9 turns any bits into pictures.
 * These notice a picture whose decoding does not end with its data (nearly every damaged one of VP9, more than half of
 * VP8), and then refuse all up to the next key frame.
 */
const STRICT_DECODERS: Readonly<Record<string, string>> = { vp8: 'libvpx', vp9: 'libvpx-vp9' };
const NOT_BUILT_IN = 'Unknown decoder';

/** What one pass adds to ffmpeg's arguments. */
interface DecodingPass {
  readonly global: readonly string[];
  readonly decoder: readonly string[];
}

const EXPLODING: DecodingPass = { global: [], decoder: ['-err_detect', 'explode'] };
const CONCEALING: DecodingPass = { global: ['-nostats', '-v', 'repeat+info'], decoder: [] };
/** The Matroska demuxer takes a truncated file for a finished one; only its message reveals the truncation. */
const MATROSKA_CUT = 'ended prematurely';
const REPORT_MAX_BYTES = 4 * 1024 * 1024;

interface CheckOptions {
  readonly deadlineMs: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Reads one stream to its end and fails at the first demuxing error. Such an error reveals a truncated file, whose
 * header still promises all of it and whose remaining pictures decode well.
 * @throws MediaError media_corrupt, MediaProcessError.
 */
export async function checkContainer(
  binaries: Binaries,
  file: string,
  stream: '0:V:0' | '0:a:0',
  options: CheckOptions,
): Promise<void> {
  const args = ['-xerror', ...ffmpegInput(file), '-map', stream, '-c', 'copy'];
  await check(binaries, file, args, { ...options, memoryBytes: DEMUXING_MEMORY_BYTES });
}

/** What a pass over every picture of a stream found. */
interface DecodedPictures {
  readonly decoded: number;
  readonly fields: FieldCounts;
}

/**
 * Decodes every picture of a stream with a known expected count, and fails when too many are damaged.
 * @throws MediaError media_corrupt, MediaProcessError.
 */
export async function checkPictures(
  binaries: Binaries,
  file: string,
  { codec, pictures }: { readonly codec: string; readonly pictures: number },
  options: CheckOptions,
): Promise<DecodedPictures> {
  const strict = STRICT_DECODERS[codec];
  if (strict !== undefined) {
    try {
      const pass = { ...EXPLODING, decoder: [...EXPLODING.decoder, '-c:v', strict] };
      return await decodePictures(binaries, file, pictures, pass, options);
    } catch (error) {
      if (!(error instanceof MediaError) || !error.message.includes(NOT_BUILT_IN)) throw error;
    }
  }
  try {
    return await decodePictures(binaries, file, pictures, EXPLODING, options);
  } catch (error) {
    if (!(error instanceof MediaError) || !OVERSTRICT.has(codec)) throw error;
  }
  const patched = countLines(CONCEALED);
  const telling = { ...options, onComplaint: patched.see };
  const found = await decodePictures(binaries, file, pictures, CONCEALING, telling);
  if (patched.count() > found.decoded * ERROR_RATE_MAX)
    throw new MediaError('media_corrupt', `${patched.count()} of ${found.decoded} pictures are damaged`);
  return found;
}

async function decodePictures(
  binaries: Binaries,
  file: string,
  pictures: number,
  { global, decoder }: DecodingPass,
  options: CheckOptions & Pick<ChildOptions, 'onComplaint'>,
): Promise<DecodedPictures> {
  const limit = ['-max_error_rate', String(ERROR_RATE_MAX)];
  const args = [...global, ...limit, ...examinedPictures(binaries, file, decoder)];
  const report = await check(binaries, file, args, options);
  const decoded = lastProgressFrame(report);
  if (decoded === 0 || decoded < pictures * DECODED_SHARE_MIN) {
    throw new MediaError('media_corrupt', `${decoded} of ${pictures} pictures decode`);
  }
  return { decoded, fields: countFields(report) };
}

/**
 * How the pictures of a stream that was only inspected are stored, as `probe` finds it: whoever reads a video has to see
 * the same pictures. Decodes all of them.
 * @throws MediaError media_corrupt, MediaProcessError.
 */
export async function measureScan(
  binaries: Binaries,
  file: string,
  stream: VideoStream,
  options: CheckOptions,
): Promise<Scan> {
  const report = await check(binaries, file, examinedPictures(binaries, file), options);
  return scanOf(countFields(report), stream);
}

/** Arguments that decode the pictures as they are stored, and look for fields in them. */
function examinedPictures({ share }: Binaries, file: string, decoder: readonly string[] = []): string[] {
  const input = ['-threads', String(share.decoderThreads), '-noautorotate', ...decoder];
  const all = ['-map', '[all]', '-fps_mode', 'passthrough', '-f', 'null', '-'];
  const some = ['-map', '[some]', '-fps_mode', 'passthrough'];
  return [...ffmpegInput(file, input), '-filter_complex', FIELD_DETECTION, ...all, ...some];
}

/** Reads what is asked for to its end. Returns what ffmpeg and its filters print. */
async function check(
  binaries: Binaries,
  file: string,
  args: readonly string[],
  options: CheckOptions & Pick<ChildOptions, 'onComplaint' | 'memoryBytes'>,
): Promise<string> {
  const command: [string, ...string[]] = [
    binaries.ffmpeg,
    ...FFMPEG_GLOBAL,
    ...args,
    ...['-progress', 'pipe:1', '-f', 'null', '-'],
  ];
  const { exit, stdout } = await runToEnd(
    binaries,
    command,
    { folder: dirname(file), ...options },
    REPORT_MAX_BYTES,
  );
  if (exit.ended !== 'exit') throw new MediaProcessError(exit.ended, exit.stderr);
  if (exit.code !== 0 || exit.stderr.includes(MATROSKA_CUT))
    throw new MediaError('media_corrupt', exit.stderr);
  return stdout.toString('latin1');
}

/** The last `frame=` value in the output of `ffmpeg -progress`; 0 when there is none. */
function lastProgressFrame(report: string): number {
  return Number(Array.from(report.matchAll(/^frame=\s*(\d+)/gm)).at(-1)?.[1] ?? 0);
}

/** Counts the lines that contain `word` in a text that arrives in pieces. */
function countLines(word: string): { see: (text: string) => void; count: () => number } {
  let rest = '';
  let count = 0;
  return {
    see: (text) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      count += lines.filter((line) => line.includes(word)).length;
    },
    count: () => count,
  };
}
