/** Size and version of what an engine keeps per source frame. */
export interface FeatureLayout {
  /** Changes whenever the meaning of the values does; the pack that computed them is tracked separately. */
  readonly version: string;
  /** Floats per source frame; 0 if nothing is worth keeping. */
  readonly values: number;
}

/** Larger features are computed faster than they are fetched from an object store. */
const MOST_BYTES_PER_FRAME = 256 * 1024;

/** Whether an engine's features are worth storing in a file. */
export function isWorthKeeping({ values }: FeatureLayout): boolean {
  return values > 0 && values * 4 <= MOST_BYTES_PER_FRAME;
}
