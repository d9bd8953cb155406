import { type Recording, recordingFrom, SAMPLE_RATE } from './log-mel';
import { type Stretch } from './voice-activity';

/** Samples over which sound comes and goes, outside of the stretches: 25 ms, so that nothing clicks. */
const RAMP = 0.025 * SAMPLE_RATE;

/**
 * A recording with silence outside these stretches, which are in order and further apart than two ramps. What a network
 * hears there is then what it has learned to close lips at, whatever else sounds. Within them every sample is as
 * recorded. Like the recording itself it is read in pieces.
 */
export function voiceOnly(recording: Recording, stretches: readonly Stretch[]): Recording {
  const parts = stretches.map(({ start, end }) => ({
    start: Math.round(start * SAMPLE_RATE),
    end: Math.round(end * SAMPLE_RATE),
  }));
  return recordingFrom(recording.length, (from, target) => {
    const to = from + target.length;
    for (const { start, end } of parts) {
      const [first, last] = [Math.max(from, start - RAMP), Math.min(to, end + RAMP)];
      if (first >= last) continue;
      const samples = recording.read(first, last);
      for (let at = first; at < last; at++) {
        const outside = Math.max(start - at, at - end + 1, 0);
        target[at - from] = (1 - outside / (RAMP + 1)) * (samples[at - first] ?? 0);
      }
    }
  });
}
