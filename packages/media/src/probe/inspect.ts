import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { MEDIA_MAX_SECONDS } from '@lipsync/domain';
import { type Binaries } from '../ffmpeg/binaries';
import { CONTAINERS, MAX_PIXELS, MAX_STREAMS, probeInput } from '../ffmpeg/input-arguments';
import { DEMUXING_MEMORY_BYTES, runToEnd } from '../ffmpeg/media-child';
import { beyondLimit, MediaError, MediaProcessError } from '../media-error';
import { isSteadyAdts, looksLikeMedia } from './file-headers';
import { type AudioStream, transferOf, type VideoStream } from './stream-info';
import { fields, finite, HDR_ENTRIES, list, parseHdr, parseStreams } from './stream-report';

const INSPECT_DEADLINE_MS = 30_000;
/** 301 s of PCM at 192 kHz, whose samples QuickTime counts one by one. */
const SAMPLES_MAX = (MEDIA_MAX_SECONDS + 1) * 192_000;
const REPORT_MAX_BYTES = 1024 * 1024;

/** ffprobe's messages about a file that it refuses to read. */
const FORMAT_REFUSED = 'whitelist';
const TOO_MANY_STREAMS = 'max_streams';
const TOO_LARGE = 'max pixel count';

const FORMATS_DETAIL = `The file format is not supported; use one of ${[...CONTAINERS.values()].join(', ')}.`;

/** The only report entries that are read: titles and lyrics may be of any length. */
const ENTRIES = [
  'stream=codec_type,codec_name,profile,width,height,pix_fmt,field_order,sample_aspect_ratio,r_frame_rate,' +
    'avg_frame_rate,time_base,start_time,color_range,color_space,color_primaries,color_transfer,sample_rate,channels,' +
    'nb_frames',
  'stream_disposition=attached_pic',
  'stream_tags=alpha_mode,language,timecode,TIMECODE',
  `stream_side_data=displaymatrix,rotation,${HDR_ENTRIES}`,
  'format=start_time,format_name',
  'format_tags=timecode,TIMECODE',
].join(':');

/** What a container says about its first picture and sound stream. All claims, except codec and geometry. */
interface ContainerInfo {
  /** ffprobe's name of the container, such as `wav`. */
  readonly format: string;
  /** Pictures were too large to be examined: those of a cover, or those of the video if it has no size. */
  readonly tooLarge: boolean;
  readonly video?: VideoStream;
  readonly audio?: AudioStream;
}

/**
 * Reads container facts with the hardened ffprobe; tens of milliseconds, nothing decoded but what ffprobe needs.
 * @throws MediaError media_unsupported (no allowed container, too many streams) or media_corrupt (unreadable).
 */
export async function inspect(
  binaries: Binaries,
  file: string,
  signal?: AbortSignal,
): Promise<ContainerInfo> {
  const { exit, stdout } = await runProbe(binaries, file, ['-show_entries', ENTRIES], signal);
  if (exit.code !== 0) {
    if (exit.stderr.includes(TOO_MANY_STREAMS))
      throw beyondLimit('media_unsupported', `The file has more than ${MAX_STREAMS} streams.`);
    if (exit.stderr.includes(TOO_LARGE)) throw picturesTooLarge();
    if (exit.stderr.includes(FORMAT_REFUSED) || !(await looksLikeMedia(file)))
      throw new MediaError('media_unsupported', exit.stderr, FORMATS_DETAIL);
    throw new MediaError('media_corrupt', exit.stderr);
  }
  const report = fields(JSON.parse(stdout.toString('utf8')));
  const info = parseStreams(report);
  await expectSamplesToFit(report, info, file);
  return {
    ...info,
    ...(await soundOf(info, file)),
    ...(await picturesOf(info, (frames) => runProbe(binaries, file, frames, signal))),
    tooLarge: exit.stderr.includes(TOO_LARGE),
  };
}

async function runProbe(
  binaries: Binaries,
  file: string,
  show: readonly string[],
  signal: AbortSignal | undefined,
): ReturnType<typeof runToEnd> {
  const command = [
    binaries.ffprobe,
    ...show,
    '-of',
    'json',
    ...probeInput(file),
  ] as const satisfies readonly [string, ...string[]];
  const limits = { deadlineMs: INSPECT_DEADLINE_MS, memoryBytes: DEMUXING_MEMORY_BYTES };
  const ended = await runToEnd(
    binaries,
    command,
    { folder: dirname(file), ...limits, signal },
    REPORT_MAX_BYTES,
  );
  if (ended.exit.ended !== 'exit') throw new MediaProcessError(ended.exit.ended, ended.exit.stderr);
  return ended;
}

/** For pictures that the decoder refuses to open, so that their size is not known. */
export function picturesTooLarge(): MediaError {
  return beyondLimit('media_unsupported', `A frame has more than ${MAX_PIXELS} pixels (4096x2160).`);
}

/**
 * ffprobe takes the profile of AAC whose packets have headers of their own from the first; none is claimed where later
 * ones may have another, as in broadcasts, whose programs change between stereo and 5.1.
 */
async function soundOf(
  { format, audio }: Pick<ContainerInfo, 'format' | 'audio'>,
  file: string,
): Promise<Pick<ContainerInfo, 'audio'>> {
  const steady = format === 'aac' ? await isSteadyAdts(file) : format !== 'mpegts';
  if (steady || audio === undefined) return {};
  const { codec, language, sampleRate, channels, startSeconds } = audio;
  const known = language === undefined ? {} : { language };
  return { audio: { codec, sampleRate, channels, startSeconds, ...known } };
}

/** The first picture's messages, where those of the display and its light usually are, unless the container has them. */
const FIRST_PICTURE = [
  ...['-select_streams', 'V:0', '-read_intervals', '%+#1'],
  ...['-show_frames', '-show_entries', `frame_side_data=${HDR_ENTRIES}`],
];

/** Looks for the display and light of PQ video in its first picture; they are missing if that does not decode. */
async function picturesOf(
  { video }: Pick<ContainerInfo, 'video'>,
  show: (arguments_: readonly string[]) => ReturnType<typeof runToEnd>,
): Promise<Pick<ContainerInfo, 'video'>> {
  if (video === undefined || transferOf(video) !== 'pq') return {};
  const { exit, stdout } = await show(FIRST_PICTURE);
  if (exit.code !== 0) return {};
  const [picture] = list(fields(JSON.parse(stdout.toString('utf8')))['frames']).map(fields);
  return { video: { ...video, hdr: { ...parseHdr(picture ?? {}), ...video.hdr } } };
}

/**
 * An index of a few bytes may claim any number of samples, and every tool that opens the file would hold tens of bytes
 * for each sample. A sample takes at least one byte. In an AIFF it is a mere number that nothing heeds.
 */
async function expectSamplesToFit(
  report: Record<string, unknown>,
  { format }: Pick<ContainerInfo, 'format'>,
  file: string,
): Promise<void> {
  if (format === 'aiff') return;
  const { size } = await stat(file);
  const claims = list(report['streams']).map((stream) => finite(fields(stream)['nb_frames']) ?? 0);
  if (claims.some((samples) => samples > Math.min(size, SAMPLES_MAX)))
    throw new MediaError('media_corrupt', `${Math.max(...claims)} samples in ${size} bytes`);
}
