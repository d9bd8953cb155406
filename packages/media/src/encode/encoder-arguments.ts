import { resolve } from 'node:path';
import { type Clock, type Rational, usualRate, usualStep } from '@lipsync/domain';
import { type VideoEncoder } from '../ffmpeg/binaries';
import { FFMPEG_GLOBAL } from '../ffmpeg/input-arguments';
import { type ColorTags, type HdrMetadata } from '../probe/stream-info';
import { type EncodedPictures, videoEncoderArguments } from './picture-arguments';
import { audioEncoderArguments, audioInput, type EncoderAudio } from './sound-arguments';
import { isConstant } from './timecode';
import { timedPicturesInput } from './timed-pictures';

export interface EncoderSettings extends EncodedPictures {
  readonly outputPath: string;
  /** Even, as the reader yields them. */
  readonly width: number;
  readonly height: number;
  /** When the frames appear. Exactly as many will be written. */
  readonly clock: Clock;
  /** Tags of the frames (`outputFormat` of the source); unspecified stays unspecified. */
  readonly color: ColorTags;
  /** What is known of the light of HDR frames. */
  readonly hdr?: HdrMetadata;
  readonly pixelAspect?: Rational;
  /** SMPTE timecode of the first frame, by `timecodeOf`. */
  readonly timecode?: string | undefined;
  readonly audio: EncoderAudio;
}

/** The encoder's arguments after the program's name: timed pictures on stdin, one MP4 out, one encode. */
export function encoderArguments(
  settings: EncoderSettings,
  encoder: VideoEncoder,
  threads: number,
): string[] {
  const { audio, clock, hdr } = settings;
  return [
    ...FFMPEG_GLOBAL,
    ...timedPicturesInput(),
    ...audioInput(audio),
    ...['-map', '0:v:0', '-map', '1:a:0', '-map_metadata', '-1', '-map_chapters', '-1', '-sn', '-dn'],
    // No -frames:v: ffmpeg closes every stream of the file on reaching that count, and the sound loses its end.
    ...['-vf', tagFilter(settings)],
    ...videoEncoderArguments(encoder, { threads, fps: usualRate(clock), hdr }),
    ...clockArguments(clock),
    ...(settings.timecode === undefined ? [] : ['-timecode', settings.timecode]),
    ...audioEncoderArguments(audio),
    ...['-movflags', '+faststart', '-f', 'mp4', `file:${resolve(settings.outputPath)}`],
  ];
}

/** Labels the frames without touching a sample, so that no version of ffmpeg sees a reason to convert them. */
function tagFilter({ color, pixelAspect }: EncoderSettings): string {
  const tags = [
    ...(color.range === undefined ? [] : [`range=${color.range}`]),
    ...(color.matrix === undefined ? [] : [`colorspace=${color.matrix}`]),
    ...(color.primaries === undefined ? [] : [`color_primaries=${color.primaries}`]),
    ...(color.transfer === undefined ? [] : [`color_trc=${color.transfer}`]),
  ];
  const aspect = `setsar=${pixelAspect?.num ?? 1}/${pixelAspect?.den ?? 1}`;
  return tags.length === 0 ? aspect : `setparams=${tags.join(':')},${aspect}`;
}

/** Players and editors expect a time base of milliseconds or finer. */
const COARSEST_TIMESCALE = 1000;

/** Every frame at its own tick, and the last one for as long as it lasts. */
function clockArguments(clock: Clock): string[] {
  const { timescale, ticks } = clock;
  const finer = timescale < COARSEST_TIMESCALE ? COARSEST_TIMESCALE : 1;
  const unit = String(timescale * finer);
  return [
    ...['-fps_mode:v', 'passthrough', '-video_track_timescale', unit, '-movie_timescale', unit],
    ...(isConstant(clock)
      ? // The encoder's unit is the frame, as it then writes the rate into its own headers.
        ['-enc_time_base:v', `${usualStep(clock)}:${timescale}`]
      : ['-enc_time_base:v', `1:${unit}`, '-bsf:v', lasting(finer * lastStep(ticks))]),
  ];
}

function lastStep(ticks: Uint32Array): number {
  const [before = 0, end = 0] = ticks.slice(-2);
  return end - before;
}

/**
 * The end of the output is that of the last packet, which takes its duration from here. Encoders know only when frames
 * begin; all other packets last until the next one.
 */
function lasting(ticks: number): string {
  return `setts=pts=PTS:dts=DTS:duration=${ticks}`;
}
