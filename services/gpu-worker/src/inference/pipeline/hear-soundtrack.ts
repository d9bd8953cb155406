import { hear, type RunModel, voiceActivity } from '@lipsync/engines';
import { MediaError, recordAudio } from '@lipsync/media';
import { type Sound } from '../analyzer/lip-evidence';
import { type Job, MEDIA_DEADLINE_MS } from '../job';
import { openSpeechFile } from '../local-media';

/**
 * Hears a video's own soundtrack: who speaks in it is who the lips fit. Null if there is none that can be decoded: it is
 * not part of the output, so nothing else depends on it. Its time is that of the pictures, of which the first one is at
 * `startSeconds` of the file's own clock. `scratchPath` names a place for its samples.
 */
export async function hearSoundtrack(
  videoPath: string,
  startSeconds: number,
  scratchPath: string,
  { binaries, signal }: Job,
  run: RunModel,
): Promise<Sound | null> {
  const file = openSpeechFile(scratchPath);
  try {
    await recordAudio(binaries, videoPath, file.descriptor, {
      fromSeconds: startSeconds,
      deadlineMs: MEDIA_DEADLINE_MS,
      signal,
    });
    const recording = file.recording();
    const runUnlessStopped: RunModel = (...call) => {
      signal.throwIfAborted();
      return run(...call);
    };
    return {
      cues: await hear(recording, runUnlessStopped),
      speech: await voiceActivity(recording, runUnlessStopped),
    };
  } catch (error) {
    // There is no sound, or none that decodes: to ask first would take a process more.
    if (error instanceof MediaError && error.code === 'media_corrupt') return null;
    throw error;
  } finally {
    file.close();
  }
}
