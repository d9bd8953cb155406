import { dirname } from 'node:path';
import { type Binaries } from './binaries';
import { encoderArguments, type EncoderSettings } from './encoder-arguments';
import { MediaError, MediaProcessError } from './media-error';
import { startChild } from './media-child';
import { encoderForSize } from './video-encoder-arguments';

export interface FrameEncoder {
  readonly frameBytes: number;
  /**
   * Hands one yuv420p frame to the encoder; resolves when the buffer may be used again. Several may be under way,
   * frames are encoded in the order of the calls.
   * @throws MediaError encode_failed, MediaProcessError.
   */
  write(frame: Uint8Array): Promise<void>;
  /** Ends the output after the last frame. @throws as `write`, also when the number of frames is not as announced. */
  finish(): Promise<void>;
  /** Stops the encoder; the output is unusable. Safe after `finish`. */
  abort(): Promise<void>;
}

/** Starts the one encode of an output, as `binaries.codecs` says: H.264 and the original sound in one faststart MP4. */
export function openEncoder(
  binaries: Binaries,
  settings: EncoderSettings,
  options: { deadlineMs: number; signal?: AbortSignal | undefined },
): FrameEncoder {
  const frameBytes = (settings.width * settings.height * 3) / 2;
  const encoder = encoderForSize(binaries.codecs.encoder, settings.width, settings.height);
  const command: [string, ...string[]] = [
    binaries.ffmpeg,
    ...encoderArguments(settings, encoder, binaries.threads),
  ];
  const child = startChild(binaries, command, {
    folder: dirname(settings.audio.path),
    ...options,
    device: encoder !== 'libx264',
  });
  child.stdout.resume();
  let written = 0;

  async function failure(): Promise<Error> {
    const exit = await child.exit;
    if (exit.ended !== 'exit') return new MediaProcessError(exit.ended, exit.stderr);
    return new MediaError(
      'encode_failed',
      exit.stderr === '' ? `ffmpeg exited with ${exit.code}` : exit.stderr,
    );
  }

  async function write(frame: Uint8Array): Promise<void> {
    if (frame.length !== frameBytes) throw new RangeError(`a frame has ${frameBytes} bytes`);
    if (written >= settings.frames) throw new RangeError(`more than the announced ${settings.frames} frames`);
    written += 1;
    const error = await new Promise<Error | null | undefined>((resolve) => child.stdin.write(frame, resolve));
    if (error != null) throw await failure();
  }

  async function finish(): Promise<void> {
    if (written !== settings.frames) {
      await abort();
      throw new MediaError('encode_failed', `${written} of ${settings.frames} frames were written`);
    }
    child.stdin.end();
    const exit = await child.exit;
    if (exit.ended !== 'exit' || exit.code !== 0) throw await failure();
  }

  async function abort(): Promise<void> {
    child.kill();
    await child.exit;
  }

  return { frameBytes, write, finish, abort };
}
