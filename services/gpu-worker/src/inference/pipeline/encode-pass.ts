import { type FaceTrack } from '@lipsync/lipsync';
import { type Binaries, openFrameReader, type VideoStream } from '@lipsync/media';
import { type FaceEncoder } from '../engines/engine';
import { readAhead } from './read-ahead';

export interface EncodePass {
  readonly binaries: Binaries;
  readonly videoPath: string;
  readonly video: VideoStream;
  /** How many frames from the start to look at. */
  readonly frames: number;
  readonly encoders: readonly FaceEncoder[];
  /** Called after every frame with the number of frames done. */
  readonly onFrame: (framesDone: number) => void;
  /** Looked at after every frame. */
  readonly signal: AbortSignal;
  /** Wall clock of the decoder, milliseconds. */
  readonly deadlineMs: number;
}

/** Goes through the video once, at full size, and feeds every frame to all encoders. */
export async function encodePass(pass: EncodePass): Promise<void> {
  const { binaries, encoders, signal, deadlineMs } = pass;
  const layout = { format: 'yuv420p' } as const;
  const reader = openFrameReader(binaries, pass.videoPath, pass.video, { layout, deadlineMs, signal });
  try {
    let index = 0;
    for await (const frame of readAhead(reader, pass.frames)) {
      // One after the other: the graphs run on one thread anyway, and a failure leaves nothing running.
      for (const encoder of encoders) await encoder.add(frame, index);
      signal.throwIfAborted();
      pass.onFrame(++index);
    }
    for (const encoder of encoders) await encoder.flush();
  } finally {
    await reader.close();
  }
}

/** Frames from the start up to the last one whose face one of these engines does not know yet. */
export function framesToEncode(
  track: FaceTrack,
  settledFrames: number,
  known: readonly { has(sourceIndex: number): boolean }[],
): number {
  for (let frame = settledFrames - 1; frame >= 0; frame--) {
    if (track.found[frame] === 1 && known.some((features) => !features.has(frame))) return frame + 1;
  }
  return 0;
}
