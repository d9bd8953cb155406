import { type Binaries } from '../ffmpeg/binaries';
import { type EncoderSettings } from './encoder-arguments';
import { type EncoderProcess, type FrameEncoder, openFrameEncoder } from './frame-encoder';
import { encoderForSize } from './video-encoder-arguments';

/**
 * Starts the one encode of an output, as `binaries.codecs` says: H.264 and the original sound in one faststart MP4. A
 * card that has no room or no session left for an encoder is replaced by software.
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
 * The first encoder, or the other one if the first is refused. Until that is known no frame is given back: the other one
 * begins with the same frames.
 */
function replaceable(first: EncoderProcess, openOther: () => FrameEncoder): FrameEncoder {
  let current: FrameEncoder = first;
  let held: Uint8Array[] | undefined = [];
  let again: readonly Promise<void>[] = [];
  let aborted = false;
  const settled = settle();
  // Told by `write` and `finish`, which may come later or not at all.
  settled.catch(() => undefined);

  async function settle(): Promise<void> {
    if (await first.refused) {
      // Both write the same file: the first must be gone.
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
    // Of a process that is replaced nobody wants to know how it failed.
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
