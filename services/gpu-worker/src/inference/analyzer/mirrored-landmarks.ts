/** For every landmark, the one that takes its place in a mirrored face. */
export const MIRRORED_LANDMARKS: readonly number[] = [
  ...[16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0], // jaw
  ...[26, 25, 24, 23, 22, 21, 20, 19, 18, 17], // brows
  ...[27, 28, 29, 30, 35, 34, 33, 32, 31], // nose
  ...[45, 44, 43, 42, 47, 46, 39, 38, 37, 36, 41, 40], // eyes
  ...[54, 53, 52, 51, 50, 49, 48, 59, 58, 57, 56, 55], // outer lips
  ...[64, 63, 62, 61, 60, 67, 66, 65], // inner lips
];
