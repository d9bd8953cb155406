import { type FrameCursor } from './frame-cursor';
import { type FrameReader } from './frame-reader';
import { MediaError } from './media-error';

/** A plain decode from the beginning: skipped frames are read over, repeated ones stay in the one buffer. */
export function forwardFrames(reader: FrameReader, buffer: Uint8Array): FrameCursor {
  let current = -1;
  async function frameAt(index: number): Promise<Uint8Array> {
    while (current < index) {
      if (!(await reader.readInto(buffer)))
        throw new MediaError('media_corrupt', `there is no frame ${index}`);
      current += 1;
    }
    return buffer;
  }
  return { frameAt, close: () => reader.close() };
}
