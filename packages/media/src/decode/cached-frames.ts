import { MediaError } from '../media-error';
import { type FrameCursor } from './frame-cursor';
import { type FrameReader } from './frame-reader';

/** Frames from `first` on, of a clip short enough to keep whole: decoded once, then served in any order. */
export function cachedFrames(reader: FrameReader, first: number): FrameCursor {
  const kept: Uint8Array[] = [];
  let skipped = 0;
  async function copyFrame(index: number, target: Uint8Array): Promise<void> {
    const position = index - first;
    while (kept.length <= position) {
      const frame = new Uint8Array(reader.frameBytes);
      if (!(await reader.readInto(frame)))
        throw new MediaError('media_corrupt', `there is no frame ${index}`);
      if (skipped < first) skipped += 1;
      else kept.push(frame);
    }
    const frame = kept[position];
    if (frame === undefined) throw new RangeError(`frame ${index} is before the first`);
    target.set(frame);
  }
  return { copyFrame, close: () => reader.close() };
}
