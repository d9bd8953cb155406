/** Round divisions of minutes, hours and days, in seconds. */
const CLOCK_STEPS = [
  1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400,
];
const DAY = 86_400;

/** The smallest round step of clock or calendar time, in seconds, that is at least `rough`. */
export function timeStep(rough: number): number {
  return CLOCK_STEPS.find((step) => step >= rough) ?? Math.ceil(rough / DAY) * DAY;
}
