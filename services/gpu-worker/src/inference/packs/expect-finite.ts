import { type RunResult, SessionError } from '@lipsync/engines';

/** Number of values to sample: a network's normalisations spread a NaN over a whole image, so a sample suffices. */
const PLACES = 4096;

/**
 * Throws SessionError when a half-precision graph overflowed, or a device failed silently: the result would become a
 * black mouth, and be stored for the next renders of the video.
 */
export function expectFinite(role: string, { outputs, feeds }: RunResult): void {
  for (const [name, { type, data }] of Object.entries(outputs)) {
    if (type !== 'float32') continue;
    const step = Math.ceil(data.length / PLACES);
    for (let at = 0; at < data.length; at += step) {
      if (!Number.isFinite(data[at]))
        throw new SessionError('run_failed', `${role}: '${name}' is not a number at ${at}`, feeds);
    }
  }
}
