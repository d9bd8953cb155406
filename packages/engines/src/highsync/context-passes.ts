/** How a network that sees a fixed number of frames moves over a longer run. */
interface WindowShape {
  /** Frames that the network sees at once. */
  readonly window: number;
  /** Frames that neighboring windows share; less than `window`. */
  readonly overlap: number;
}

/** One position of the network: it sees frames [start, start + window), and its output counts for [from, to). */
interface ContextWindow {
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
export function* contextWindows(
  frames: number,
  step: number,
  { window, overlap }: WindowShape,
): Generator<ContextWindow> {
  if (frames < window) throw new RangeError(`${frames} frames do not fill a window of ${window}`);
  const shift = step % window;
  if (frames + shift <= window) {
    yield { start: 0, from: 0, to: frames };
    return;
  }
  for (let first = -shift; first < frames; first += window - overlap) {
    const to = Math.min(frames, first + window);
    yield { start: Math.max(0, to - window), from: Math.max(0, first), to };
  }
}

/** How many of these windows count for a frame. */
function windowsAt(frame: number, frames: number, step: number, { window, overlap }: WindowShape): number {
  const shift = step % window;
  if (frames + shift <= window) return 1;
  const last = Math.floor((frame + shift) / (window - overlap));
  const before = Math.floor((frame + shift - window) / (window - overlap));
  return last - Math.max(-1, before);
}

/** One pass of the network and the weights of its output. */
export interface ContextPass {
  /** The first frame that the network sees. No later pass of the step sees an earlier one. */
  readonly start: number;
  /**
   * Weight of its output for each of those frames. For every frame of the run the weights of all passes add up to 1.
   */
  readonly weights: Float32Array;
}

/**
 * The passes of the network for the windows of a step, one after another. Equal windows share a pass, and a frame takes
 * the mean of its windows.
 */
export function* contextPasses(frames: number, step: number, shape: WindowShape): Generator<ContextPass> {
  let pass: ContextPass | undefined;
  for (const { start, from, to } of contextWindows(frames, step, shape)) {
    if (pass && pass.start !== start) {
      yield pass;
      pass = undefined;
    }
    pass ??= { start, weights: new Float32Array(shape.window) };
    for (let frame = from; frame < to; frame++) {
      const weight = pass.weights[frame - start] ?? 0;
      pass.weights[frame - start] = weight + 1 / windowsAt(frame, frames, step, shape);
    }
  }
  if (pass) yield pass;
}
