import { SessionError, type RunResult } from '../sessions/session';

/** What is no number in one place has, by a network's normalisations, spread over all of an image: some places tell. */
const PLACES = 4096;

/**
 * Throws SessionError when a graph of half precision overflowed, or a device failed without a word: what it computed
 * would become a black mouth, and be kept for the next renders of the video.
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
