/**
 * Loudness of speech per video frame: RMS over a Hann-weighted window of two frames centred on the middle of the
 * frame's display time. Samples outside the track count as silence.
 *
 * @param pcm mono samples in [-1, 1]
 */
export function speechEnvelope(
  pcm: Float32Array,
  { sampleRate, fps, frames }: { sampleRate: number; fps: number; frames: number },
): number[] {
  const half = Math.round(sampleRate / fps);
  const weights = Float64Array.from(
    { length: 2 * half + 1 },
    (_, i) => 0.5 + 0.5 * Math.cos((Math.PI * (i - half)) / half),
  );
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  return Array.from({ length: frames }, (_, frame) => {
    const first = Math.round(((frame + 0.5) * sampleRate) / fps) - half;
    let energy = 0;
    for (let i = 0; i < weights.length; i++) {
      const sample = pcm[first + i] ?? 0;
      energy += (weights[i] ?? 0) * sample * sample;
    }
    return Math.sqrt(energy / total);
  });
}
