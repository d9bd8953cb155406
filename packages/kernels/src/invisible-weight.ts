/** A weight below this changes no 8-bit sample by half a level, whatever is blended. */
export const INVISIBLE = 1 / 512;
