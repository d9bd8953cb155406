/** Size and meaning of what an engine keeps per source frame. */
export interface FeatureLayout {
  /** Changes when the values' meaning does; the pack they were made with is counted in separately. */
  readonly version: string;
  /** Floats per source frame; 0: nothing is worth keeping. */
  readonly values: number;
}

/** More per frame is computed faster than it is fetched from an object store. */
const MOST_BYTES_PER_FRAME = 256 * 1024;

/** Whether what an engine knows of a frame is worth a file. */
export function isWorthKeeping({ values }: FeatureLayout): boolean {
  return values > 0 && values * 4 <= MOST_BYTES_PER_FRAME;
}
