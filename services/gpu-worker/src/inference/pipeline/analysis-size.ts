/** Detector and landmarks see pictures of at most this many pixels on their longer side. */
const LONGER_SIDE = 640;

/** Size at which a video is analysed: even in both directions, never enlarged. */
export function analysisSize(video: { width: number; height: number }): { width: number; height: number } {
  const scale = Math.min(1, LONGER_SIDE / Math.max(video.width, video.height));
  const even = (side: number): number => Math.max(2, Math.round((side * scale) / 2) * 2);
  return { width: even(video.width), height: even(video.height) };
}
