const [RED, GREEN, BLUE] = [0.299, 0.587, 0.114];
/** The differences of blue and red from the brightness, divided by these, are in [-1, 1]. */
const BLUE_RANGE = 2 * (1 - BLUE);
const RED_RANGE = 2 * (1 - RED);

/** Brightness, difference towards blue, difference towards red (ITU-R BT.601): rows of weights of red, green, blue. */
export const FROM_RGB = [
  [RED, GREEN, BLUE],
  [-RED / BLUE_RANGE, -GREEN / BLUE_RANGE, (1 - BLUE) / BLUE_RANGE],
  [(1 - RED) / RED_RANGE, -GREEN / RED_RANGE, -BLUE / RED_RANGE],
] as const;

/** Red, green, blue: rows of weights of brightness and the two differences. */
export const TO_RGB = [
  [1, 0, RED_RANGE],
  [1, (-BLUE * BLUE_RANGE) / GREEN, (-RED * RED_RANGE) / GREEN],
  [1, BLUE_RANGE, 0],
] as const;
