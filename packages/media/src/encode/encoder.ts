import { dirname } from 'node:path';
import { framesOf } from '@lipsync/domain';
import { type Binaries, type VideoEncoder } from '../ffmpeg/binaries';
import { startChild } from '../ffmpeg/media-child';
import { MediaError, MediaProcessError } from '../media-error';
import { encoderArguments, type EncoderSettings } from './encoder-arguments';
import { encoderFor, softwareEncoder } from './picture-arguments';
import { pictureBytes, pictureHeader, streamHeader } from './timed-pictures';

/**
 * Starts the one encode of an output with the codecs in `binaries.codecs`: H.264, or HEVC for 10 bits, and the original
 * sound in one faststart MP4. Software replaces a card that has no memory or no session left for an encoder.
 */
export function openEncoder(
  binaries: Binaries,
  settings: EncoderSettings,
  options: { deadlineMs: number; signal?: AbortSignal | undefined },
): FrameEncoder {
  const encoder = encoderFor(binaries.codecs, settings);
  const software = softwareEncoder(settings);
  const first = openFrameEncoder(binaries, settings, encoder, options);
  if (encoder === software) return first;
  return replaceable(first, () => {
    binaries.onReplaced?.('encoder');
    return openFrameEncoder(binaries, settings, software, options);
  });
}

/**
 * The first encoder, or the other one if the first is refused. No frame is given back until that is known, because the
 * other encoder begins with the same frames.
 */
function replaceable(first: EncoderProcess, openOther: () => FrameEncoder): FrameEncoder {
  let current: FrameEncoder = first;
  let held: Uint8Array[] | undefined = [];
  let again: readonly Promise<void>[] = [];
  let aborted = false;
  const settled = settle();
  // `write` and `finish` report the failure; they may be called later or not at all.
  settled.catch(() => undefined);

  async function settle(): Promise<void> {
    if (await first.refused) {
      // Both encoders write the same file, so the first must be gone.
      await first.abort();
      if (!aborted) {
        current = openOther();
        again = (held ?? []).map((frame) => current.write(frame));
      }
    }
    held = undefined;
  }

  async function write(frame: Uint8Array): Promise<void> {
    const written = current.write(frame);
    if (held === undefined) return written;
    const place = held.push(frame) - 1;
    // Nobody needs to know how a process that is being replaced failed.
    written.catch(() => undefined);
    await settled;
    return again[place] ?? written;
  }

  async function finish(): Promise<void> {
    await settled;
    await current.finish();
  }

  async function abort(): Promise<void> {
    aborted = true;
    await first.abort();
    await current.abort();
  }

  return { frameBytes: first.frameBytes, write, finish, abort };
}

export interface FrameEncoder {
  readonly frameBytes: number;
  /**
   * Hands one frame to the encoder, in planes of yuv420p or yuv420p10le; resolves when the buffer may be reused.
   * Several calls may be in flight; frames are encoded in call order. @throws MediaError encode_failed,
   * MediaProcessError.
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
interface EncoderProcess extends FrameEncoder {
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
  const frameBytes = pictureBytes(settings);
  const frames = framesOf(settings.clock);
  const card = encoder !== softwareEncoder(settings);
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
  child.stdin.write(streamHeader(settings));
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
    if (written >= frames) throw new RangeError(`more than the announced ${frames} frames`);
    const error = await new Promise<Error | null | undefined>((resolve) => {
      // In one system call.
      child.stdin.cork();
      child.stdin.write(pictureHeader(settings, written));
      child.stdin.write(frame, resolve);
      child.stdin.uncork();
      written += 1;
    });
    if (error != null) throw await failure();
  }

  async function finish(): Promise<void> {
    if (written !== frames)
      throw new MediaError('encode_failed', `${written} of ${frames} frames were written`);
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
