import { type SyncMode } from '@lipsync/client';
import { sourceFrameIndex, WORKING_FPS } from '@lipsync/domain/timeline';

/** Which part of the source is beside which part of the output. */
export interface SourceTimeline {
  readonly mode: SyncMode;
  /** Frames of the source at the working rate. */
  readonly videoFrames: number;
  readonly outputFrames: number;
}

/** Where the source is at a moment of the output, and how fast it moves there. */
export interface SourcePosition {
  readonly frame: number;
  /** Seconds of source per second of output: 1 as filmed, 0 held, negative backward. */
  readonly rate: number;
}

/** The frame that is on screen at `seconds`. */
export function frameAt(seconds: number): number {
  // A seek to the middle of a frame may come back a little below it.
  return Math.max(0, Math.floor(seconds * WORKING_FPS + 1e-3));
}

/** The middle of a frame: a seek there shows this frame and no neighbor, however the browser rounds. */
export function middleOf(frame: number): number {
  return (frame + 0.5) / WORKING_FPS;
}

/** Whole frames of media that lasts `seconds`: at least one. */
export function frameCount(seconds: number): number {
  return Math.max(1, Math.round(seconds * WORKING_FPS));
}

/** The source frame beside output frame `index`, as the service has mapped them. */
export function sourcePosition(timeline: SourceTimeline, index: number): SourcePosition {
  const { mode, videoFrames, outputFrames } = timeline;
  const at = (i: number): number =>
    Math.min(videoFrames - 1, Math.max(0, sourceFrameIndex(mode, i, { videoFrames, outputFrames })));
  const frame = at(index);
  if (mode === 'remap') return { frame, rate: videoFrames / outputFrames };
  const next = at(index + 1) - frame;
  // loop jumps back to the start: until then the last frame moves on as filmed.
  return { frame, rate: mode === 'loop' && next < 0 ? 1 : next };
}
