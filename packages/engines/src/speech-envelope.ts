import { type Recording } from './speech/recording';

/** Frames that are processed at once. */
const STRETCH = 250;

/**
 * Loudness of speech per video frame: RMS over a Hann-weighted window of two frames, centred on the middle of the
 * frame's display time. Outside the recording counts as silence.
 */
export function speechEnvelope(
  recording: Recording,
  { sampleRate, fps, frames }: { sampleRate: number; fps: number; frames: number },
): number[] {
  const half = Math.round(sampleRate / fps);
  const weights = Float64Array.from(
    { length: 2 * half + 1 },
    (_, i) => 0.5 + 0.5 * Math.cos((Math.PI * (i - half)) / half),
  );
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const startOf = (frame: number): number => Math.round(((frame + 0.5) * sampleRate) / fps) - half;
  let from = 0;
  let heard = new Float32Array(0);
  return Array.from({ length: frames }, (_, frame) => {
    if (frame % STRETCH === 0) {
      from = startOf(frame);
      heard = recording.read(from, startOf(Math.min(frame + STRETCH, frames) - 1) + weights.length);
    }
    const first = startOf(frame) - from;
    let energy = 0;
    for (let i = 0; i < weights.length; i++) {
      const sample = heard[first + i] ?? 0;
      energy += (weights[i] ?? 0) * sample * sample;
    }
    return Math.sqrt(energy / total);
  });
}
