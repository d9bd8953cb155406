import type { AudioPlan } from '@lipsync/domain';
import {
  type Binaries,
  frameColor,
  openEncoder,
  openFrameSource,
  type ProbedAudio,
  type VideoStream,
} from '@lipsync/media';

interface TranscodeRequest {
  videoFile: string;
  video: VideoStream;
  audioFile: string;
  audio: ProbedAudio;
  /** Source frame of every output frame. */
  indices: readonly number[];
  audioPlan: AudioPlan;
  outFile: string;
}

/** The same frames through the same encoder without modification: the reference for a render. */
export async function plainTranscode(
  binaries: Binaries,
  request: TranscodeRequest,
  deadlineMs: number,
): Promise<void> {
  const source = openFrameSource(binaries, request.videoFile, request.video, request.indices, { deadlineMs });
  const encoder = openEncoder(
    binaries,
    {
      outputPath: request.outFile,
      width: source.width,
      height: source.height,
      frames: request.indices.length,
      color: frameColor(request.video),
      audio: { path: request.audioFile, stream: request.audio, ...request.audioPlan },
    },
    { deadlineMs },
  );
  try {
    const frame = new Uint8Array(source.frameBytes);
    while (await source.readInto(frame)) await encoder.write(frame);
    await encoder.finish();
  } finally {
    await Promise.all([source.close(), encoder.abort()]);
  }
}
