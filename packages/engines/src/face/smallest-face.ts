/** Smallest usable face, pixels per side. A face smaller than this in the picture has no lips to move. */
export const SMALLEST_FACE = 16;
