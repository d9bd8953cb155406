import { type SyncMode } from '@lipsync/contract';

/** Every source is resampled to this constant rate before anything else happens; output has it too. */
export const WORKING_FPS = 25;

/** Absorbs what floating point makes of a duration that is a whole number of frames (8.64 s × 25). */
const EPSILON_FRAMES = 1e-6;

/** How much picture and sound there is. */
export interface SourceLengths {
  /** Frames of the video at the working rate; at least 1. */
  readonly videoFrames: number;
  readonly audioSeconds: number;
}

function wholeFrames(seconds: number): number {
  return Math.max(1, Math.floor(seconds * WORKING_FPS + EPSILON_FRAMES));
}

/** Lengths that differ by at most one frame are equal: then every mode is the plain video with the plain audio. */
function areEqual(videoFrames: number, audioSeconds: number): boolean {
  return Math.abs(audioSeconds * WORKING_FPS - videoFrames) <= 1 + EPSILON_FRAMES;
}

/**
 * How many frames the output has. A partial last frame is left out, so that the output is never longer than the
 * longer input (an input shorter than one frame still makes one).
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
 * How much of a video the timeline can depend on, as frames from its start: a longer one makes the same output. All of
 * it (Infinity) where the mode shows the whole video. Two frames more than the audio, so that the rest of the video
 * cannot make the lengths count as equal.
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

export interface TimelineFrames {
  readonly videoFrames: number;
  readonly outputFrames: number;
}

/**
 * Which source frame is shown at output frame `index` (both from 0).
 * cut_off and silence play once and hold the last frame; loop restarts; bounce turns around without showing the
 * turning frames twice; remap spreads the whole video evenly over the output.
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
      return Math.min(last, Math.floor(((2 * index + 1) * videoFrames) / (2 * outputFrames)));
  }
}

/** What happens to the audio when it is muxed; without either it is copied whole. */
export interface AudioPlan {
  readonly trimSeconds?: number;
  readonly padToSeconds?: number;
}

/**
 * Trims or pads the audio to the output: only cut_off ever trims, only silence ever pads. Elsewhere the output has
 * the length of the audio, and its last partial frame of sound is kept.
 */
export function audioPlan(mode: SyncMode, lengths: SourceLengths): AudioPlan {
  const { videoFrames, audioSeconds } = lengths;
  if (areEqual(videoFrames, audioSeconds)) return {};
  const videoSeconds = videoFrames / WORKING_FPS;
  if (mode === 'cut_off' && audioSeconds > videoSeconds) return { trimSeconds: videoSeconds };
  if (mode === 'silence' && audioSeconds < videoSeconds) return { padToSeconds: videoSeconds };
  return {};
}
