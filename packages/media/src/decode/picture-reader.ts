import { dirname } from 'node:path';
import { type Binaries, type VideoDecoder } from '../ffmpeg/binaries';
import { startPipedChild } from '../ffmpeg/byte-pipe';
import { type ChildExit } from '../ffmpeg/media-child';
import { isMediaError, MediaError, MediaProcessError } from '../media-error';
import { type VideoStream } from '../probe/stream-info';
import { decoderArguments, type PictureDecoding, type PictureSelection } from './decoder-arguments';
import { frameGeometry, type FrameLayout } from './frame-layout';
import { PictureTimes } from './picture-times';

export interface DecodingLimits {
  /** Wall-clock limit of each decoder, including time spent waiting for the caller. */
  readonly deadlineMs: number;
  readonly signal?: AbortSignal | undefined;
}

interface PictureReaderOptions extends DecodingLimits {
  readonly layout: FrameLayout;
  /** Absent means all pictures. Those left out cost their decoding, but no copy. */
  readonly selection?: PictureSelection | undefined;
  /** Whether `nextTime` will be asked. */
  readonly timed?: boolean;
}

/** Frames of a video, one after the other. */
export interface FrameReader {
  readonly width: number;
  readonly height: number;
  readonly frameBytes: number;
  /**
   * Copies the next frame into `target` (exactly `frameBytes` long); false after the last one. One call at a time.
   * @throws MediaError media_corrupt when decoding fails, MediaProcessError when stopped or past its deadline.
   */
  readInto(target: Uint8Array): Promise<boolean>;
  /** Ends the decoder; safe at any time, also right after the last frame; never rejects. */
  close(): Promise<void>;
}

/** A video's own pictures in the order shown, each once: those that its decoder gives, but for ones too close to see. */
interface PictureReader extends FrameReader {
  /**
   * The time of the next picture, from the first one on, in units of `pictureTiming`; undefined after the last. It may
   * be asked before the picture, not while another picture or time is awaited. Throws as `readInto` does.
   */
  nextTime(): Promise<number | undefined>;
}

/**
 * Starts decoding a video with the codecs in `binaries.codecs`. Software replaces a card that gives up: it decodes to the
 * same pictures, and it alone decides that a file is corrupt. It also decodes what a card would lose: transparency.
 */
export function openPictureReader(
  binaries: Binaries,
  file: string,
  video: VideoStream,
  options: PictureReaderOptions,
): PictureReader {
  const geometry = frameGeometry(video, options.layout);
  const { layout, selection, timed } = options;
  let decoder: VideoDecoder = video.alpha ? 'software' : binaries.codecs.decoder;
  let pictures = 0;
  let times = 0;
  let closed = false;
  let current = open();

  function open(): PictureDecoder {
    return openPictureDecoder(binaries, { file, video, layout, selection, timed, decoder }, options);
  }

  async function readInto(target: Uint8Array): Promise<boolean> {
    if (target.length !== geometry.frameBytes)
      throw new RangeError(`a frame has ${geometry.frameBytes} bytes`);
    const more = await orInSoftware(() => current.readInto(target));
    if (more) pictures += 1;
    return more;
  }

  async function nextTime(): Promise<number | undefined> {
    const time = await orInSoftware(() => current.nextTime());
    if (time !== undefined) times += 1;
    return time;
  }

  async function orInSoftware<Result>(read: () => Promise<Result>): Promise<Result> {
    try {
      return await read();
    } catch (error) {
      if (decoder === 'software' || closed || !isMediaError(error)) throw error;
      await current.close();
      // The reader was closed meanwhile: nobody would close a decoder opened now.
      if (closed) throw error;
      await restartInSoftware();
    }
    return read();
  }

  /** Starts again and skips what was read already. */
  async function restartInSoftware(): Promise<void> {
    binaries.onReplaced?.('decoder');
    decoder = 'software';
    current = open();
    const scratch = new Uint8Array(pictures === 0 ? 0 : geometry.frameBytes);
    for (let passed = 0; passed < pictures; passed += 1) if (!(await current.readInto(scratch))) return;
    for (let passed = 0; passed < times; passed += 1) await current.nextTime();
  }

  async function close(): Promise<void> {
    closed = true;
    await current.close();
  }

  return { ...geometry, readInto, nextTime, close };
}

/** One ffmpeg process that decodes a video. It decodes ahead only as far as the pipe holds. */
export type PictureDecoder = Pick<PictureReader, 'readInto' | 'nextTime' | 'close'>;

export function openPictureDecoder(
  binaries: Binaries,
  decoding: PictureDecoding,
  limits: DecodingLimits,
): PictureDecoder {
  const { deadlineMs, signal } = limits;
  const running = startPipedChild(
    binaries,
    [binaries.ffmpeg, ...decoderArguments(decoding, binaries.share.decoderThreads)],
    {
      folder: dirname(decoding.file),
      ...{ deadlineMs, signal },
      device: decoding.decoder !== 'software',
      reports: decoding.timed === true,
    },
  ).then(({ child, pipe }) => ({ child, pipe, times: new PictureTimes(child.report) }));
  // The reader learns of a failure.
  running.catch(() => undefined);
  let closed = false;

  async function readInto(target: Uint8Array): Promise<boolean> {
    const { child, pipe } = await running;
    const bytes = await pipe.read(target);
    if (bytes === target.length) return true;
    ensureSuccess(await child.exit);
    if (bytes !== 0) throw new MediaError('media_corrupt', 'the last picture is incomplete');
    return false;
  }

  async function nextTime(): Promise<number | undefined> {
    const { child, times } = await running;
    const time = await times.next();
    if (time === undefined) ensureSuccess(await child.exit);
    if (Number.isNaN(time)) throw new MediaError('media_corrupt', 'a picture has no time');
    return time;
  }

  async function close(): Promise<void> {
    if (closed) return;
    closed = true;
    // A process that was never started has nothing to end.
    const opened = await running.catch(() => undefined);
    opened?.child.kill();
    opened?.pipe.destroy();
    await opened?.child.exit;
  }

  return { readInto, nextTime, close };
}

function ensureSuccess(exit: ChildExit): void {
  if (exit.ended !== 'exit') throw new MediaProcessError(exit.ended, exit.stderr);
  // A build that lacks a part says nothing about the media.
  if (LACKING.test(exit.stderr)) throw new MediaProcessError('not_started', exit.stderr);
  if (exit.code !== 0) throw new MediaError('media_corrupt', exit.stderr);
}

const LACKING = /No such filter|Unknown decoder/;
