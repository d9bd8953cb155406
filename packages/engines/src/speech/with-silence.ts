import { WORKING_FPS } from '@lipsync/domain';
import { SAMPLE_RATE } from './log-mel';
import { type Recording } from './recording';

/**
 * Extends the recording with silence to the end of the output. Where the picture outlasts the sound, engines whose
 * audio windows repeat the last step would otherwise hold the last mouth shape, and musetalk would get zeros, which its
 * network has not learned to interpret: they stand for neither silence nor speech.
 */
export function withSilence(recording: Recording, outputFrames: number): Recording {
  const samples = Math.ceil((outputFrames * SAMPLE_RATE) / WORKING_FPS);
  return {
    length: Math.max(recording.length, samples),
    read: (from, to) => recording.read(from, to),
  };
}
