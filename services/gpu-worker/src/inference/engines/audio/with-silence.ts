import { type Recording, SAMPLE_RATE } from '@lipsync/lipsync';
import { WORKING_FPS } from '@lipsync/domain';

/**
 * The recording with silence up to the end of the output. Where the picture outlasts the sound, engines whose audio
 * windows repeat the last step would otherwise hold the last mouth, and musetalk would hear zeros, which say nothing
 * that its network has learned: neither silence nor speech.
 */
export function withSilence(recording: Recording, outputFrames: number): Recording {
  const samples = Math.ceil((outputFrames * SAMPLE_RATE) / WORKING_FPS);
  return {
    length: Math.max(recording.length, samples),
    read: (from, to) => recording.read(from, to),
  };
}
