import { SAMPLE_RATE } from '@lipsync/lipsync';
import { WORKING_FPS } from '@lipsync/domain';

/**
 * The recording with silence up to the end of the output. Where the picture outlasts the sound, engines whose audio
 * windows repeat the last step would otherwise hold the last mouth, and musetalk would hear zeros, which say nothing
 * that its network has learned: neither silence nor speech.
 */
export function withSilence(audio: Float32Array, outputFrames: number): Float32Array {
  const samples = Math.ceil((outputFrames * SAMPLE_RATE) / WORKING_FPS);
  if (audio.length >= samples) return audio;
  const padded = new Float32Array(samples);
  padded.set(audio);
  return padded;
}
