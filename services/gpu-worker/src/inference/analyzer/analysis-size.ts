/** Larger pictures cost decoding time and find no more: landmarks look at 112 pixels of a face. */
const LONGEST_SIDE = 960;

/** The size at which a video's frames are analysed: even, never enlarged, at most 960 on the longer side. */
export function analysisSize(source: { readonly width: number; readonly height: number }): {
  width: number;
  height: number;
} {
  const scale = Math.min(1, LONGEST_SIDE / Math.max(source.width, source.height));
  const even = (length: number): number => Math.max(2, Math.round((length * scale) / 2) * 2);
  return { width: even(source.width), height: even(source.height) };
}
