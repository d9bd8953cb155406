import { type SyncMode } from '@lipsync/contract';

/** Every source is resampled to this constant rate before anything else happens. The output has the same rate. */
export const WORKING_FPS = 25;

/** Absorbs the rounding error of a duration that is a whole number of frames (8.64 s × 25). */
const EPSILON_FRAMES = 1e-6;

/** The lengths of the video and the audio. */
interface SourceLengths {
  /** Frames of the video at the working rate; at least 1. */
  readonly videoFrames: number;
  readonly audioSeconds: number;
}

function wholeFrames(seconds: number): number {
  return Math.max(1, Math.floor(seconds * WORKING_FPS + EPSILON_FRAMES));
}

/**
 * Lengths that differ by at most one frame count as equal: then every mode gives the plain video with the plain audio.
 */
function areEqual(videoFrames: number, audioSeconds: number): boolean {
  return Math.abs(audioSeconds * WORKING_FPS - videoFrames) <= 1 + EPSILON_FRAMES;
}

/**
 * The number of output frames. A partial last frame is dropped, so that the output is never longer than the longer
 * input. An input shorter than one frame still gives one frame.
 */
export function outputFrameCount(mode: SyncMode, videoFrames: number, audioSeconds: number): number {
  if (areEqual(videoFrames, audioSeconds)) return videoFrames;
  const audioFrames = wholeFrames(audioSeconds);
  switch (mode) {
    case 'cut_off':
      return Math.min(videoFrames, audioFrames);
    case 'silence':
      return Math.max(videoFrames, audioFrames);
    case 'bounce':
    case 'loop':
    case 'remap':
      return audioFrames;
  }
}

/**
 * How many frames, from the start of a video, the timeline can depend on: any longer video gives the same output.
 * Infinity where the mode shows the whole video. Otherwise two frames more than the audio, so that the unused rest of
 * the video cannot make the lengths count as equal.
 */
export function usedVideoFrames(mode: SyncMode, audioSeconds: number): number {
  switch (mode) {
    case 'cut_off':
    case 'loop':
    case 'bounce':
      return Math.ceil(audioSeconds * WORKING_FPS) + 2;
    case 'silence':
    case 'remap':
      return Infinity;
  }
}

interface TimelineFrames {
  readonly videoFrames: number;
  readonly outputFrames: number;
}

/**
 * The source frame to show at output frame `index` (both from 0).
 * cut_off and silence play once and hold the last frame; loop restarts; bounce reverses at each end without showing the
 * end frames twice; remap spreads the whole video evenly over the output.
 */
export function sourceFrameIndex(mode: SyncMode, index: number, frames: TimelineFrames): number {
  const { videoFrames, outputFrames } = frames;
  const last = videoFrames - 1;
  switch (mode) {
    case 'cut_off':
    case 'silence':
      return Math.min(index, last);
    case 'loop':
      return index % videoFrames;
    case 'bounce': {
      if (last === 0) return 0;
      const phase = index % (2 * last);
      return phase <= last ? phase : 2 * last - phase;
    }
    case 'remap':
      // The source frame that is on screen in the middle of the output frame.
      return Math.floor(((2 * index + 1) * videoFrames) / (2 * outputFrames));
  }
}

/** What happens to the audio when it is muxed. Without either field it is copied whole. */
export interface AudioPlan {
  readonly trimSeconds?: number;
  readonly padToSeconds?: number;
}

/**
 * Trims or pads the audio to the length of the output: only cut_off ever trims, only silence ever pads. In the other
 * modes the output has the length of the audio, and its last partial frame of sound is kept.
 */
export function audioPlan(mode: SyncMode, lengths: SourceLengths): AudioPlan {
  const { videoFrames, audioSeconds } = lengths;
  if (areEqual(videoFrames, audioSeconds)) return {};
  const videoSeconds = videoFrames / WORKING_FPS;
  if (mode === 'cut_off' && audioSeconds > videoSeconds) return { trimSeconds: videoSeconds };
  if (mode === 'silence' && audioSeconds < videoSeconds) return { padToSeconds: videoSeconds };
  return {};
}
