import { type Binaries } from '../ffmpeg/binaries';
import { type EncoderSettings } from './encoder-arguments';
import { type EncoderProcess, type FrameEncoder, openFrameEncoder } from './frame-encoder';
import { encoderForSize } from './video-encoder-arguments';

/**
 * Starts the one encode of an output with the codecs in `binaries.codecs`: H.264 and the original sound in one
 * faststart MP4. Software replaces a card that has no memory or no session left for an encoder.
 */
export function openEncoder(
  binaries: Binaries,
  settings: EncoderSettings,
  options: { deadlineMs: number; signal?: AbortSignal | undefined },
): FrameEncoder {
  const encoder = encoderForSize(binaries.codecs.encoder, settings.width, settings.height);
  const first = openFrameEncoder(binaries, settings, encoder, options);
  if (encoder === 'libx264') return first;
  return replaceable(first, () => {
    binaries.onReplaced?.('encoder');
    return openFrameEncoder(binaries, settings, 'libx264', options);
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
