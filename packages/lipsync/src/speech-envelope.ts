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
  return Array.from({ length: frames }, (_, frame) => {
    const centre = Math.round(((frame + 0.5) * sampleRate) / fps);
    let energy = 0;
    let weights = 0;
    for (let offset = -half; offset <= half; offset++) {
      const weight = 0.5 + 0.5 * Math.cos((Math.PI * offset) / half);
      const sample = pcm[centre + offset] ?? 0;
      energy += weight * sample * sample;
      weights += weight;
    }
    return Math.sqrt(energy / weights);
  });
}
