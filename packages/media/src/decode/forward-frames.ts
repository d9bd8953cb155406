import { MediaError } from '../media-error';
import { type FrameCursor } from './frame-cursor';
import { type FrameReader } from './frame-reader';

/** Decodes from the beginning straight into the callers' memory; skipped frames are read and discarded. */
export function forwardFrames(reader: FrameReader): FrameCursor {
  let current = -1;
  let held: Uint8Array | undefined;
  async function copyFrame(index: number, target: Uint8Array, again: boolean): Promise<void> {
    if (index === current && held !== undefined) target.set(held);
    while (current < index) {
      if (!(await reader.readInto(target)))
        throw new MediaError('media_corrupt', `there is no frame ${index}`);
      current += 1;
    }
    // Only a frame that is shown again is kept, because the caller may do what it likes with its own copy.
    if (again) (held ??= new Uint8Array(reader.frameBytes)).set(target);
  }
  return { copyFrame, close: () => reader.close() };
}
