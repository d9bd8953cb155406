import { type FaceTrack, type MouthExemplars } from '@lipsync/engines';

/** Enough for the few videos that a worker's jobs have in common. */
const KEPT_VIDEOS = 4;

/** What pictures of mouths depend on. */
interface ShownVideo {
  /** See RenderTask; nothing is kept without it. */
  readonly videoKey: string | undefined;
  readonly track: Pick<FaceTrack, 'version' | 'analyzerVersion' | 'frames'>;
  /** How many of its first frames the output shows. */
  readonly shown: number;
}

export type KeptMouths = ReturnType<typeof createKeptMouths>;

/**
 * Keeps the pictures of the last videos between renders, in memory (at most 6.5 MB each): another voice for the same
 * video needs no second look at it.
 */
export function createKeptMouths() {
  // Ordered by use, least recent first.
  const kept = new Map<string, MouthExemplars[]>();

  return async (
    { videoKey, track, shown }: ShownVideo,
    cut: () => Promise<MouthExemplars[]>,
  ): Promise<MouthExemplars[]> => {
    if (videoKey === undefined) return cut();
    const { version, analyzerVersion, frames } = track;
    const key = JSON.stringify([videoKey, version, analyzerVersion, frames, shown]);
    const mouths = kept.get(key) ?? (await cut());
    kept.delete(key);
    kept.set(key, mouths);
    for (const oldest of [...kept.keys()].slice(0, -KEPT_VIDEOS)) kept.delete(oldest);
    return mouths;
  };
}
