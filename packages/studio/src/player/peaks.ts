/** The loudest sample of each of `count` equal parts, 0 to 1 relative to the loudest of all; silence gives zeros. */
export function peaks(samples: Float32Array, count: number): Float32Array {
  const result = new Float32Array(count);
  let loudest = 0;
  for (let part = 0; part < count; part++) {
    const from = Math.floor((part * samples.length) / count);
    const to = Math.max(from + 1, Math.floor(((part + 1) * samples.length) / count));
    let peak = 0;
    for (let i = from; i < Math.min(to, samples.length); i++)
      peak = Math.max(peak, Math.abs(samples[i] ?? 0));
    result[part] = peak;
    loudest = Math.max(loudest, peak);
  }
  // Below -60 dB it is noise, which would be drawn like a voice.
  return loudest < 0.001 ? result.fill(0) : result.map((peak) => peak / loudest);
}

/** Enough for a picture, and 300 s of it take 10 MB instead of 115. */
const SAMPLE_RATE = 8000;

/**
 * The sound of a media file, mixed to one channel.
 * @throws DOMException if the browser cannot decode it
 */
export async function decodeSound(file: Blob): Promise<{ samples: Float32Array; seconds: number }> {
  const context = new OfflineAudioContext(1, 1, SAMPLE_RATE);
  const sound = await context.decodeAudioData(await file.arrayBuffer());
  return { samples: sound.getChannelData(0), seconds: sound.duration };
}
