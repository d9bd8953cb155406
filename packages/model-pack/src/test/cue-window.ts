import { positionalEncoding, WINDOW_STEPS } from '@lipsync/lipsync';
import { CUE_STATE, CUES, STATES, WIDTH } from '../builtin/speech/speech-cues';

/** What the built-in audio encoder says of the mouth. */
export type Cues = Partial<Record<(typeof CUES)[number], number>>;

/** A window of hidden states in which every step carries the same cues, with the sinusoidal position code or without. */
export function cueWindow(cues: Cues, positionCode: 'added' | 'none'): Float32Array<ArrayBuffer> {
  const tokens = WINDOW_STEPS * STATES;
  const window = new Float32Array(tokens * WIDTH);
  if (positionCode === 'added') window.set(positionalEncoding(tokens, WIDTH));
  for (let step = 0; step < WINDOW_STEPS; step++) {
    // The spectrogram in state 0 is never all zero, not even in silence.
    const spectrum = step * STATES * WIDTH;
    window[spectrum] = (window[spectrum] ?? 0) - 0.5;
    CUES.forEach((name, i) => {
      const at = (step * STATES + CUE_STATE) * WIDTH + i;
      window[at] = (window[at] ?? 0) + (cues[name] ?? 0);
    });
  }
  return window;
}
