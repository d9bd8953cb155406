import { type Frame } from './frame-pool';
import { type FrameStream } from '@lipsync/engines';

/**
 * The first `most` pictures of a stream in order, in two alternating buffers: one is processed while the other is
 * filled, so a picture must not be kept. `onEnd` is called when the stream has no more pictures than were yielded.
 */
export async function* readAhead(
  stream: Pick<FrameStream, 'frameBytes' | 'readInto'>,
  most: number,
  onEnd: () => void = () => undefined,
): AsyncGenerator<Frame> {
  let current: Frame = new Uint8Array(stream.frameBytes);
  let next: Frame = new Uint8Array(stream.frameBytes);
  let reading = stream.readInto(current);
  for (let count = 0; await reading; count++) {
    if (count >= most) return;
    reading = stream.readInto(next);
    // Awaited above once the picture has been processed; if processing throws, nobody needs the result any more.
    reading.catch(() => undefined);
    yield current;
    [current, next] = [next, current];
  }
  onEnd();
}
