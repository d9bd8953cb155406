/** A face that is smaller in its picture has no lips to move. Pixels, of each side. */
export const SMALLEST_FACE = 16;
