import { dirname } from 'node:path';
import { type Binaries, type VideoDecoder } from '../../ffmpeg/binaries';
import { startPipedChild } from '../../ffmpeg/byte-pipe';
import { isMediaError, MediaError, MediaProcessError } from '../../media-error';
import { type VideoStream } from '../../probe/stream-info';
import {
  decoderArguments,
  type FrameDecoding,
  frameGeometry,
  type FrameLayout,
  type FrameRange,
} from './decoder-arguments';

interface FrameReaderOptions {
  readonly layout: FrameLayout;
  /** Wall-clock limit of each decoder, including time spent waiting for the caller. */
  readonly deadlineMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly range?: FrameRange;
  /** Rising numbers of the only frames to deliver. The others cost their decoding, but no copy. */
  readonly only?: readonly number[];
}

/** Working frames of a video, one after the other. */
export interface FrameReader {
  readonly width: number;
  readonly height: number;
  readonly frameBytes: number;
  /** Resolves once a decoder that is started ahead runs or cannot be started; never rejects. */
  readonly started: Promise<void>;
  /**
   * Copies the next frame into `target` (exactly `frameBytes` long); false after the last one. One call at a time.
   * @throws MediaError media_corrupt when decoding fails, MediaProcessError when stopped or past its deadline.
   */
  readInto(target: Uint8Array): Promise<boolean>;
  /** Ends the decoder; safe at any time, also right after the last frame; never rejects. */
  close(): Promise<void>;
}

/**
 * Starts decoding a video at 25 frames per second with the codecs in `binaries.codecs`. The reader corrects two things
 * on the way. Software replaces a card that gives up: it decodes to the same frames, and it alone decides that a file
 * is corrupt. A video shorter than half a working frame yields one frame.
 */
export function openFrameReader(
  binaries: Binaries,
  file: string,
  video: VideoStream,
  options: FrameReaderOptions,
): FrameReader {
  const geometry = frameGeometry(video, options.layout);
  const { layout, range, only } = options;
  let decoder = binaries.codecs.decoder;
  let keepLast = false;
  let delivered = 0;
  let closed = false;
  let current = open();
  const { started } = current;

  function open(): FrameDecoder {
    return openFrameDecoder(binaries, { file, video, layout, range, only, decoder, keepLast }, options);
  }

  async function readInto(target: Uint8Array): Promise<boolean> {
    if (target.length !== geometry.frameBytes)
      throw new RangeError(`a frame has ${geometry.frameBytes} bytes`);
    let more = await next(target);
    if (!more && delivered === 0 && range === undefined && !keepLast) {
      keepLast = true;
      await current.close();
      current = open();
      more = await next(target);
    }
    if (more) delivered += 1;
    return more;
  }

  async function next(target: Uint8Array): Promise<boolean> {
    try {
      return await current.readInto(target);
    } catch (error) {
      if (decoder === 'software' || closed || !isMediaError(error)) throw error;
      await resumeWith('software', target, error);
    }
    return current.readInto(target);
  }

  /** Starts again with another decoder and skips the frames already delivered. */
  async function resumeWith(other: VideoDecoder, scratch: Uint8Array, reason: Error): Promise<void> {
    await current.close();
    // The reader was closed meanwhile: nobody would close a decoder opened now.
    if (closed) throw reason;
    binaries.onReplaced?.('decoder');
    decoder = other;
    current = open();
    for (let passed = 0; passed < delivered; passed += 1) if (!(await current.readInto(scratch))) return;
  }

  async function close(): Promise<void> {
    closed = true;
    await current.close();
  }

  return { ...geometry, started, readInto, close };
}

/** One ffmpeg process that decodes a video to working frames. It decodes ahead only as far as the pipe holds. */
export type FrameDecoder = Pick<FrameReader, 'started' | 'readInto' | 'close'>;

export function openFrameDecoder(
  binaries: Binaries,
  decoding: FrameDecoding,
  options: { deadlineMs: number; signal?: AbortSignal | undefined },
): FrameDecoder {
  const running = startPipedChild(
    binaries,
    [binaries.ffmpeg, ...decoderArguments(decoding, binaries.share.decoderThreads)],
    { folder: dirname(decoding.file), ...options, device: decoding.decoder !== 'software' },
  );
  // The reader learns of a failure.
  const started = running.then(
    () => undefined,
    () => undefined,
  );
  let closed = false;

  async function readInto(target: Uint8Array): Promise<boolean> {
    const { child, pipe } = await running;
    const bytes = await pipe.read(target);
    if (bytes === target.length) return true;
    const exit = await child.exit;
    if (exit.ended !== 'exit') throw new MediaProcessError(exit.ended, exit.stderr);
    if (exit.code !== 0 || bytes !== 0) throw new MediaError('media_corrupt', exit.stderr);
    return false;
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

  return { started, readInto, close };
}
