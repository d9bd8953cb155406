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
  /** Told of an encoder that failed: it sees no further frame, while the others go on. */
  readonly onFailure: (encoder: FaceEncoder, error: unknown) => void;
  /** Called after every frame with the number of frames done. */
  readonly onFrame: (framesDone: number) => void;
  /** Looked at after every frame. */
  readonly signal: AbortSignal;
  /** Wall clock of the decoder, milliseconds. */
  readonly deadlineMs: number;
}

/**
 * Goes through the video once, at full size, and feeds every frame to all encoders, as long as there is one that works.
 * Rejects when the video cannot be decoded, and with the signal's reason.
 */
export async function encodePass(pass: EncodePass): Promise<void> {
  const { binaries, signal, deadlineMs } = pass;
  const layout = { format: 'yuv420p' } as const;
  const reader = openFrameReader(binaries, pass.videoPath, pass.video, { layout, deadlineMs, signal });
  try {
    await encodeFrames(readAhead(reader, pass.frames), pass);
  } finally {
    await reader.close();
  }
}

/** The pass over frames that are there: each may be reused once the next one is asked for. */
export async function encodeFrames(
  frames: AsyncIterable<Uint8Array>,
  { encoders, onFailure, onFrame, signal }: Pick<EncodePass, 'encoders' | 'onFailure' | 'onFrame' | 'signal'>,
): Promise<void> {
  const working = new Set(encoders);
  const drop = (encoder: FaceEncoder, error: unknown): void => {
    // What a stopped task fails with is nobody's fault.
    signal.throwIfAborted();
    working.delete(encoder);
    onFailure(encoder, error);
  };
  let index = 0;
  for await (const frame of frames) {
    // One after the other: the graphs run on one thread anyway.
    for (const encoder of working) {
      try {
        await encoder.add(frame, index);
      } catch (error) {
        drop(encoder, error);
      }
    }
    signal.throwIfAborted();
    if (working.size === 0) return;
    onFrame(++index);
  }
  for (const encoder of working) {
    try {
      await encoder.flush();
    } catch (error) {
      drop(encoder, error);
    }
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
