import { resolve } from 'node:path';
import { WORKING_FPS } from '@lipsync/domain';
import { FFMPEG_GLOBAL } from '../ffmpeg/input-arguments';
import { type VideoEncoder } from '../ffmpeg/video-codecs';
import { type ColorTags, type Rational } from '../probe/stream-info';
import { audioEncoderArguments, audioInput, type EncoderAudio } from './encoder-audio';
import { videoEncoderArguments } from './video-encoder-arguments';

export interface EncoderSettings {
  readonly outputPath: string;
  /** Even, as the reader yields them. */
  readonly width: number;
  readonly height: number;
  /** Exactly this many frames will be written. */
  readonly frames: number;
  /** Tags of the frames (`frameColor` of the source); unspecified stays unspecified. */
  readonly color: ColorTags;
  readonly pixelAspect?: Rational;
  readonly audio: EncoderAudio;
}

/** The encoder's arguments after the program's name: raw frames on stdin, one MP4 out, one encode. */
export function encoderArguments(
  settings: EncoderSettings,
  encoder: VideoEncoder,
  threads: number,
): string[] {
  const { width, height, audio } = settings;
  const picture = ['-f', 'rawvideo', '-pixel_format', 'yuv420p', '-video_size', `${width}x${height}`];
  return [
    ...FFMPEG_GLOBAL,
    ...[...picture, '-framerate', String(WORKING_FPS), '-i', 'pipe:0'],
    ...audioInput(audio),
    ...['-map', '0:v:0', '-map', '1:a:0', '-map_metadata', '-1', '-map_chapters', '-1', '-sn', '-dn'],
    // No -frames:v: ffmpeg closes every stream of the file on reaching that count, and the sound loses its end.
    ...[
      '-vf',
      tagFilter(settings),
      ...videoEncoderArguments(encoder, threads),
      ...audioEncoderArguments(audio),
    ],
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
