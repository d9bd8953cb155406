import { type ClipInput, type EngineClip } from '../engine';
import { FaceWindow, type WindowParts } from './face-window';

export interface LatentsyncClip extends EngineClip {
  newBatch(): FaceWindow;
}

export interface LatentsyncClipParts extends WindowParts {
  /** See EngineClip, of a source frame. */
  enlargementOf(source: number): number;
}

/** Cropping before and pasting after the network, for one clip. Frames without a face are left alone. */
export function createLatentsyncClip(
  clip: Pick<ClipInput, 'sources' | 'features' | 'signal'>,
  parts: LatentsyncClipParts,
): LatentsyncClip {
  return {
    batchSize: parts.window,
    newBatch: () => new FaceWindow(clip, parts),
    enlargement: (output) => parts.enlargementOf(clip.sources[output] ?? -1),
    close: async () => undefined,
  };
}
