import { readAhead } from './read-ahead';
import { type FaceTrack, type FaceEncoder } from '@lipsync/engines';
import { type Binaries, openFrameReader, type VideoStream } from '@lipsync/media';

export interface EncodePass {
  readonly binaries: Binaries;
  readonly videoPath: string;
  readonly video: VideoStream;
  /** Number of frames to process, from the start. */
  readonly frames: number;
  readonly encoders: readonly FaceEncoder[];
  /** Called when an encoder fails: it gets no further frames, while the others continue. */
  readonly onFailure: (encoder: FaceEncoder, error: unknown) => void;
  /** Called after every frame with the number of frames done. */
  readonly onFrame: (framesDone: number) => void;
  /** Checked after every frame. */
  readonly signal: AbortSignal;
  /** Wall-clock limit of the decoder in milliseconds. */
  readonly deadlineMs: number;
}

/**
 * Goes through the video once, at full size, and feeds every frame to all encoders for as long as at least one works.
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

/** The pass over an existing stream of frames; each frame may be reused once the next one is requested. */
export async function encodeFrames(
  frames: AsyncIterable<Uint8Array>,
  { encoders, onFailure, onFrame, signal }: Pick<EncodePass, 'encoders' | 'onFailure' | 'onFrame' | 'signal'>,
): Promise<void> {
  const working = new Set(encoders);
  const drop = (encoder: FaceEncoder, error: unknown): void => {
    // Whatever a stopped task fails with is not the encoder's fault.
    signal.throwIfAborted();
    working.delete(encoder);
    onFailure(encoder, error);
  };
  let index = 0;
  for await (const frame of frames) {
    // In sequence: the graphs run on one thread anyway.
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

/** Number of frames from the start up to the last face whose features one of these engines still lacks. */
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
