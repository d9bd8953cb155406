import { type DenoisedFrame } from './denoise-run';

type Floats = Float32Array<ArrayBuffer>;

/**
 * Latents by instant, from work that yields them in order, some at a time. It begins at once, and goes on only while the
 * frames of its last yield are being used: these and the ones in progress are in memory. It gets a signal that aborts when
 * `signal` does or when the queue is closed.
 */
export function createLatentQueue(
  work: (signal: AbortSignal) => AsyncGenerator<readonly DenoisedFrame[], void>,
  signal: AbortSignal,
) {
  const stop = new AbortController();
  const denoised = work(AbortSignal.any([signal, stop.signal]));
  const latents = new Map<number, Floats>();
  let last: Promise<unknown> = Promise.resolve();

  const proceed = () => {
    const next = denoised.next();
    // A failure goes to whoever wants the frames; until then it must not count as an unhandled rejection.
    void Promise.allSettled([next]);
    return next;
  };
  /** What the work yields next; after a failure, the failure. */
  let coming = proceed();
  const find = async (instant: number): Promise<Floats> => {
    for (;;) {
      const latent = latents.get(instant);
      if (latent) {
        latents.delete(instant);
        return latent;
      }
      const { value, done } = await coming;
      if (done) throw new RangeError(`there is no latent of instant ${instant}`);
      for (const frame of value) latents.set(frame.instant, frame.latent);
      coming = proceed();
    }
  };

  return {
    /** The latent of an instant, in an array of the pool. Call once for each, in order. */
    want(instant: number): Promise<Floats> {
      const found = last.then(() => find(instant));
      last = Promise.allSettled([found]);
      return found;
    },
    /** Stops the work in progress and resolves when it has ended. */
    async close(): Promise<void> {
      stop.abort(new Error('the clip was closed'));
      await denoised.return();
    },
  };
}
