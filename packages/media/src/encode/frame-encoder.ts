import { dirname } from 'node:path';
import { type Binaries } from '../ffmpeg/binaries';
import { encoderArguments, type EncoderSettings } from './encoder-arguments';
import { MediaError, MediaProcessError } from '../media-error';
import { startChild } from '../ffmpeg/media-child';
import { type VideoEncoder } from '../ffmpeg/video-codecs';

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

/** One ffmpeg process that encodes an output, with an encoder of choice and no other. */
export interface EncoderProcess extends FrameEncoder {
  /**
   * Whether a card's encoder could not be opened, as soon as that is known, which takes one frame. Its process then
   * fails. Never rejects.
   */
  readonly refused: Promise<boolean>;
}

/** ffmpeg's reports, soon and often. The first one comes when the encoder is open and the head of the file is written. */
const PROGRESS = ['-progress', 'pipe:1', '-stats_period', '0.1'];

export function openFrameEncoder(
  binaries: Binaries,
  settings: EncoderSettings,
  encoder: VideoEncoder,
  options: { deadlineMs: number; signal?: AbortSignal | undefined },
): EncoderProcess {
  const frameBytes = (settings.width * settings.height * 3) / 2;
  const card = encoder !== 'libx264';
  const command: [string, ...string[]] = [
    binaries.ffmpeg,
    ...(card ? PROGRESS : []),
    ...encoderArguments(settings, encoder, binaries.threads),
  ];
  const child = startChild(binaries, command, {
    folder: dirname(settings.audio.path),
    ...options,
    device: card,
  });
  let written = 0;

  // What comes first tells: a report of an encoder that is open, or its complaint. Others may be of the sound.
  const refused = new Promise<boolean>((resolve) => {
    child.stdout.on('data', (report: Buffer) => {
      if (report.includes('progress=continue')) resolve(false);
    });
    void child.complaintAbout(encoder).then(() => resolve(card));
    void child.exit.then(({ ended }) => resolve(card && ended === 'exit'));
  });
  // ffmpeg exits only when it has read what it waits for.
  void refused.then((failed) => failed && child.stdin.destroy());

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

  return { frameBytes, refused, write, finish, abort };
}
