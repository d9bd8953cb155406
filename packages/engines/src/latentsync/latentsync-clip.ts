import { type ClipInput, type EngineClip } from '../engine';
import { FaceWindow, type WindowParts } from './face-window';

export interface LatentsyncClip extends EngineClip {
  newBatch(): FaceWindow;
}

export interface LatentsyncClipParts extends WindowParts {
  /** The enlargement of a source frame's face, see EngineClip. */
  enlargementOf(source: number): number;
}

/** Crops before the network and pastes after it, for one clip. Frames without a face are left alone. */
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
