import { dirname } from 'node:path';
import { type Binaries } from '../ffmpeg/binaries';
import { startChild } from '../ffmpeg/media-child';
import { type VideoEncoder } from '../ffmpeg/video-codecs';
import { MediaError, MediaProcessError } from '../media-error';
import { encoderArguments, type EncoderSettings } from './encoder-arguments';

export interface FrameEncoder {
  readonly frameBytes: number;
  /**
   * Hands one yuv420p frame to the encoder; resolves when the buffer may be reused. Several calls may be in flight;
   * frames are encoded in call order.
   * @throws MediaError encode_failed, MediaProcessError.
   */
  write(frame: Uint8Array): Promise<void>;
  /**
   * Ends the output after the last frame. @throws as `write`, and when the number of frames is not the announced one.
   */
  finish(): Promise<void>;
  /** Stops the encoder; the output is unusable. Call after any failure. Safe after `finish`. */
  abort(): Promise<void>;
}

/** One ffmpeg process that encodes an output with the given encoder and no other. */
export interface EncoderProcess extends FrameEncoder {
  /**
   * Resolves to whether a card's encoder failed to open, as soon as that is known, which takes one frame. If it failed,
   * its process then fails too. Never rejects.
   */
  readonly refused: Promise<boolean>;
}

/**
 * Makes ffmpeg report soon and often. The first report comes once the encoder is open and the file header is written.
 */
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
    ...encoderArguments(settings, encoder, binaries.share.encoderThreads),
  ];
  const child = startChild(binaries, command, {
    folder: dirname(settings.audio.path),
    ...options,
    device: card,
  });
  let written = 0;

  // The first message decides: a report means that the encoder is open, its own complaint that it is not. Other
  // complaints may concern the sound.
  const refused = new Promise<boolean>((resolve) => {
    child.stdout.on('data', (report: Buffer) => {
      if (report.includes('progress=continue')) resolve(false);
    });
    void child.complaintAbout(encoder).then(() => resolve(card));
    void child.exit.then(({ ended }) => resolve(card && ended === 'exit'));
  });
  // ffmpeg exits only once it has read the input it is waiting for.
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
    if (written !== settings.frames)
      throw new MediaError('encode_failed', `${written} of ${settings.frames} frames were written`);
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
