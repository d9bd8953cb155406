import { resolve } from 'node:path';
import { WORKING_FPS } from '@lipsync/domain';
import { AUDIO_CLOCK, FILL_HOLES } from './audio-filters';
import { FFMPEG_GLOBAL, ffmpegInput } from './input-arguments';
import { type AudioStream, type ColorTags, type Rational } from './stream-info';

/** The sound of an output: the original file, cut or continued with silence where the sync mode says so. */
export interface EncoderAudio {
  readonly path: string;
  readonly stream: AudioStream;
  /** Keep only this much. */
  readonly trimSeconds?: number | undefined;
  /** Continue with silence up to here. */
  readonly padToSeconds?: number | undefined;
}

export interface EncoderSettings {
  readonly outputPath: string;
  /** Even, as the reader yields them. */
  readonly width: number;
  readonly height: number;
  /** Exactly so many frames will be written. */
  readonly frames: number;
  /** Tags of the frames (`frameColor` of the source); unspecified stays unspecified. */
  readonly color: ColorTags;
  readonly pixelAspect?: Rational;
  readonly audio: EncoderAudio;
}

/** Highest rate that AAC players agree on; the original's is kept below it. */
const AAC_RATE_MAX = 48_000;
/** A sound that starts later than this after its file's clock is re-encoded, so that it starts with the picture. */
const START_TOLERANCE_SECONDS = 1 / WORKING_FPS;

/** True when the original AAC packets can be taken over as they are. */
export function copiesAudio(audio: EncoderAudio): boolean {
  const whole = audio.trimSeconds === undefined && audio.padToSeconds === undefined;
  return whole && audio.stream.codec === 'aac' && audio.stream.startSeconds < START_TOLERANCE_SECONDS;
}

/** The encoder's arguments after the program's name: raw frames on stdin, one MP4 out, one encode. */
export function encoderArguments(settings: EncoderSettings): string[] {
  const { width, height, audio } = settings;
  const picture = ['-f', 'rawvideo', '-pixel_format', 'yuv420p', '-video_size', `${width}x${height}`];
  return [
    ...FFMPEG_GLOBAL,
    ...[...picture, '-framerate', String(WORKING_FPS), '-i', 'pipe:0'],
    ...ffmpegInput(audio.path),
    ...['-map', '0:v:0', '-map', '1:a:0', '-map_metadata', '-1', '-map_chapters', '-1', '-sn', '-dn'],
    // No -frames:v: reaching it makes ffmpeg close every stream of the file, and the sound loses its end.
    ...['-vf', tagFilter(settings)],
    ...['-c:v', 'libx264', '-preset', 'veryfast', '-crf', '17', '-pix_fmt', 'yuv420p'],
    ...audioArguments(audio),
    ...['-movflags', '+faststart', '-f', 'mp4', `file:${resolve(settings.outputPath)}`],
  ];
}

/** Labels the frames without touching a sample: no version of ffmpeg then sees a reason to convert them. */
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

function audioArguments(audio: EncoderAudio): string[] {
  if (copiesAudio(audio)) return ['-c:a', 'copy'];
  const filters = [AUDIO_CLOCK, `aresample=${FILL_HOLES}`];
  if (audio.padToSeconds !== undefined) {
    filters.push(
      `apad=whole_dur=${seconds(audio.padToSeconds)}`,
      `atrim=duration=${seconds(audio.padToSeconds)}`,
    );
  }
  if (audio.trimSeconds !== undefined) filters.push(`atrim=duration=${seconds(audio.trimSeconds)}`);
  return [
    ...['-af', filters.join(','), '-c:a', 'aac', '-b:a', '192k'],
    ...(audio.stream.sampleRate > AAC_RATE_MAX ? ['-ar', String(AAC_RATE_MAX)] : []),
    ...(audio.stream.channels > 2 ? ['-ac', '2'] : []),
  ];
}

function seconds(value: number): string {
  return value.toFixed(6);
}
