import { CUE_STATE, CUES, STATES, WIDTH } from '../builtin/speech-cues';
import { positionalEncoding } from '../speech/positional-encoding';
import { WINDOW_STEPS } from '../speech/whisper-window';

/** The cues about the mouth that the built-in audio encoder outputs. */
export type Cues = Partial<Record<(typeof CUES)[number], number>>;

/** A window of hidden states with the same cues in every step, with or without the sinusoidal position code. */
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
