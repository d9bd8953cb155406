/** How a network that sees a fixed number of frames moves over a longer run. */
export interface WindowShape {
  /** Frames that the network sees at once. */
  readonly window: number;
  /** Frames that neighbouring windows share; less than `window`. */
  readonly overlap: number;
}

/** One position of the network: it sees frames [start, start + window), and its output counts for [from, to). */
export interface ContextWindow {
  readonly start: number;
  readonly from: number;
  readonly to: number;
}

/**
 * The windows of one denoising step over a run of `frames` (≥ window) frames, as HighSync places them
 * (https://github.com/saeed5959/high_sync). They move by one frame with every step, so that no frame stays at a border.
 * A window that would extend beyond an end is moved back inside, and only its original frames count. Windows with the
 * same start see the same frames, and each counts.
 * @throws RangeError for a run that is too short
 */
export function contextWindows(
  frames: number,
  step: number,
  { window, overlap }: WindowShape,
): ContextWindow[] {
  if (frames < window) throw new RangeError(`${frames} frames do not fill a window of ${window}`);
  const shift = step % window;
  if (frames + shift <= window) return [{ start: 0, from: 0, to: frames }];
  const windows: ContextWindow[] = [];
  for (let first = -shift; first < frames; first += window - overlap) {
    const to = Math.min(frames, first + window);
    windows.push({ start: Math.max(0, to - window), from: Math.max(0, first), to });
  }
  return windows;
}

/** One pass of the network and the weights of its output. */
export interface ContextPass {
  /** The first frame that the network sees. */
  readonly start: number;
  /**
   * Weight of its output for each of those frames. For every frame of the run the weights of all passes add up to 1.
   */
  readonly weights: Float32Array;
}

/**
 * The passes of the network for the windows of a step. Equal windows share a pass, and a frame takes the mean of its
 * windows.
 */
export function contextPasses(frames: number, step: number, shape: WindowShape): ContextPass[] {
  const windows = contextWindows(frames, step, shape);
  const covered = new Uint32Array(frames);
  const counts = new Map<number, Uint32Array>();
  for (const { start, from, to } of windows) {
    const count = counts.get(start) ?? new Uint32Array(shape.window);
    counts.set(start, count);
    for (let frame = from; frame < to; frame++) {
      count[frame - start] = (count[frame - start] ?? 0) + 1;
      covered[frame] = (covered[frame] ?? 0) + 1;
    }
  }
  return [...counts].map(([start, count]) => ({
    start,
    weights: Float32Array.from(count, (times, place) =>
      times === 0 ? 0 : times / (covered[start + place] ?? 1),
    ),
  }));
}
