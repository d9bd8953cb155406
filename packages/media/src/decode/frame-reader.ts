import { dirname } from 'node:path';
import { type Binaries, type VideoDecoder } from '../ffmpeg/binaries';
import { type BytePipe, type ByteSink, openBytePipe, startPipedChild } from '../ffmpeg/byte-pipe';
import { type MediaChild } from '../ffmpeg/media-child';
import { isMediaError, MediaError, MediaProcessError } from '../media-error';
import { type VideoStream } from '../probe/stream-info';
import {
  decoderArguments,
  type FrameDecoding,
  frameGeometry,
  type FrameLayout,
  type FrameRange,
} from './decoder-arguments';

export interface FrameReaderOptions {
  readonly layout: FrameLayout;
  /** Wall-clock limit of each decoder, including time spent waiting for the caller. */
  readonly deadlineMs: number;
  readonly signal?: AbortSignal | undefined;
  readonly range?: FrameRange;
}

export interface FrameReader {
  readonly width: number;
  readonly height: number;
  readonly frameBytes: number;
  /** Resolves once the decoder runs or cannot be started; never rejects. */
  readonly started: Promise<void>;
  /**
   * Copies the next frame into `target` (exactly `frameBytes` long); false after the last one. One call at a time.
   * @throws MediaError media_corrupt when decoding fails, MediaProcessError when stopped or past its deadline.
   */
  readInto(target: Uint8Array): Promise<boolean>;
  /** Ends the decoder; may be called right after the last frame. */
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
  const { layout, range } = options;
  let decoder = binaries.codecs.decoder;
  let keepLast = false;
  let delivered = 0;
  let closed = false;
  let current = open();
  const { started } = current;

  function open(): FrameDecoder {
    return openFrameDecoder(binaries, { file, video, layout, range, decoder, keepLast }, options);
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
export interface FrameDecoder {
  /** Resolves once the process runs or cannot be started; never rejects. */
  readonly started: Promise<void>;
  /**
   * Copies the next frame into `target`; false after the last one. One call at a time.
   * @throws MediaError media_corrupt when decoding fails, MediaProcessError when stopped or past its deadline.
   */
  readInto(target: Uint8Array): Promise<boolean>;
  /** Ends the process; safe at any time, never rejects. */
  close(): Promise<void>;
}

export function openFrameDecoder(
  binaries: Binaries,
  decoding: FrameDecoding,
  options: { deadlineMs: number; signal?: AbortSignal | undefined },
): FrameDecoder {
  const running = start(binaries, decoding, options);
  // The reader learns of a failure.
  const started = running.then(
    () => undefined,
    () => undefined,
  );
  let closed = false;

  async function readInto(target: Uint8Array): Promise<boolean> {
    const { child, frames } = await running;
    const bytes = await frames.read(target);
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

async function start(
  binaries: Binaries,
  decoding: FrameDecoding,
  options: { deadlineMs: number; signal?: AbortSignal | undefined },
): Promise<{ child: MediaChild; frames: RawFrameStream; pipe: BytePipe }> {
  const frames = new RawFrameStream();
  const pipe = await openBytePipe(frames);
  frames.connect(pipe);
  const child = startPipedChild(
    binaries,
    [binaries.ffmpeg, ...decoderArguments(decoding, binaries.share.decoderThreads)],
    {
      folder: dirname(decoding.file),
      deadlineMs: options.deadlineMs,
      signal: options.signal,
      device: decoding.decoder !== 'software',
    },
    pipe,
  );
  child.stdin.end();
  return { child, frames, pipe };
}

/** The source of the bytes; a paused source delivers nothing. */
interface Flow {
  pause(): void;
  resume(): void;
}

/**
 * Cuts a byte stream into frames, each copied once into the caller's buffer. The stream is paused while no buffer is
 * waiting, so the process behind it blocks on its full pipe: there is no other back-pressure.
 */
export class RawFrameStream implements ByteSink {
  private flow: Flow | undefined;
  /** Bytes that arrived after the end of a frame; they stay in place because the flow is paused. */
  private spare: Uint8Array | undefined;
  private waiting: { target: Uint8Array; filled: number; settle: (bytes: number) => void } | undefined;
  private ended = false;

  /** Connects the source of the bytes, which is still paused. Nothing can be read before this call. */
  connect(flow: Flow): void {
    this.flow = flow;
  }

  /** Fills the whole buffer, or less at the end of the stream; resolves to the bytes written. One call at a time. */
  read(target: Uint8Array): Promise<number> {
    if (this.waiting !== undefined) throw new Error('a frame is already being read');
    return new Promise((settle) => {
      this.waiting = { target, filled: 0, settle };
      const spare = this.spare;
      this.spare = undefined;
      if (spare !== undefined) this.accept(spare);
      if (this.waiting === undefined) return;
      if (this.ended) this.finish();
      else this.flow?.resume();
    });
  }

  accept(bytes: Uint8Array): void {
    const waiting = this.waiting;
    if (waiting === undefined) {
      this.flow?.pause();
      this.spare = bytes;
      return;
    }
    const taken = Math.min(bytes.length, waiting.target.length - waiting.filled);
    waiting.target.set(taken === bytes.length ? bytes : bytes.subarray(0, taken), waiting.filled);
    waiting.filled += taken;
    if (taken < bytes.length) this.spare = bytes.subarray(taken);
    if (waiting.filled === waiting.target.length) {
      this.flow?.pause();
      this.finish();
    }
  }

  end(): void {
    this.ended = true;
    this.finish();
  }

  private finish(): void {
    const waiting = this.waiting;
    this.waiting = undefined;
    waiting?.settle(waiting.filled);
  }
}
