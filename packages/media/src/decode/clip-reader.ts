import { type Binaries } from '../ffmpeg/binaries';
import { MediaError } from '../media-error';
import { type VideoStream } from '../probe/stream-info';
import { ClipClock, type ClipFrames } from './clip-clock';
import { pictureTiming } from './decoder-arguments';
import { type FrameLayout } from './frame-layout';
import { type DecodingLimits, type FrameReader, openPictureReader } from './picture-reader';

interface ClipReaderOptions extends DecodingLimits {
  readonly layout: FrameLayout;
  /** How long the container says that the video lasts; the last picture stays on screen until then. */
  readonly videoSeconds?: number | undefined;
  /** Frames that appear this long after the first one, or later, are not read. */
  readonly untilSeconds?: number | undefined;
}

/** Frames of a clip whose clock is only made while they are read. */
export interface ClipReader extends FrameReader {
  /** The second of the file's own clock at which the first frame, which must have been read, appears. */
  startSeconds(): number;
  /** When a frame that was read appears, in seconds from the first one, by the file's own times. */
  secondsAt(frame: number): number;
  /** Whether a frame that was read shows the picture of the frame before. */
  isHeld(frame: number): boolean;
  /** Whether the video has no more frames than were read. Known once `readInto` has returned false. */
  isComplete(): boolean;
  /** The clock of the first `count` frames, which must have been read. */
  framesUpTo(count: number): ClipFrames;
}

/**
 * Starts decoding a video that has no clock yet, to make one: its own pictures with their times, of which a picture that
 * stays on screen for long is several frames. Software replaces a card that gives up.
 */
export function openClipReader(
  binaries: Binaries,
  file: string,
  video: VideoStream,
  { videoSeconds, untilSeconds = Infinity, ...options }: ClipReaderOptions,
): ClipReader {
  const pictures = openPictureReader(binaries, file, video, { ...options, timed: true });
  const { timeBase, rate } = pictureTiming(video);
  const clock = new ClipClock(timeBase, rate);
  let read = 0;
  let again: Uint8Array | undefined;
  let ended = false;
  let complete = false;

  async function readInto(target: Uint8Array): Promise<boolean> {
    if (read === 0) await readTime();
    if (read === clock.length && ended) complete = true;
    if (complete || clock.secondsAt(read) >= untilSeconds) return false;
    if (read < clock.length && again !== undefined) target.set(again);
    else await readPicture(target);
    read += 1;
    return true;
  }

  async function readPicture(target: Uint8Array): Promise<void> {
    if (!(await pictures.readInto(target))) throw new MediaError('media_corrupt', 'a picture is missing');
    await readTime();
    // The caller may do what it likes with its own copy.
    if (clock.length - read > 1) (again ??= new Uint8Array(pictures.frameBytes)).set(target);
  }

  /** Takes in when the next picture appears, and thereby for how long the one before is on screen. */
  async function readTime(): Promise<void> {
    const time = await pictures.nextTime();
    ended = time === undefined || !clock.add(time);
    if (ended) clock.end(videoSeconds);
  }

  return {
    ...pictures,
    readInto,
    startSeconds: () => clock.startSeconds,
    secondsAt: (frame) => clock.secondsAt(frame),
    isHeld: (frame) => clock.isHeld(frame),
    isComplete: () => complete,
    framesUpTo: (count) => clock.framesUpTo(count),
  };
}
