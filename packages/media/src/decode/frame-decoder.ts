import { dirname } from 'node:path';
import { type Binaries } from '../ffmpeg/binaries';
import { type BytePipe, openBytePipe } from '../ffmpeg/byte-pipe';
import { type MediaChild } from '../ffmpeg/media-child';
import { startPipedChild } from '../ffmpeg/piped-child';
import { MediaError, MediaProcessError } from '../media-error';
import { decoderArguments, type FrameDecoding } from './decoder-arguments';
import { RawFrameStream } from './raw-frame-stream';

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
