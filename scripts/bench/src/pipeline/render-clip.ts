import { type Inference, type RenderResult } from '@lipsync/gpu-worker';
import { type PreparedClip } from './prepared-clip';

/** Renders a prepared clip with the musetalk pack of `inference`. */
export function renderClip(
  inference: Inference,
  clip: PreparedClip,
  outputPath: string,
): Promise<RenderResult> {
  const { videoFile, audioFile, faceTrackPath } = clip;
  return inference.render({
    engine: 'musetalk',
    videoPath: videoFile,
    audioPath: audioFile,
    outputPath,
    syncMode: 'cut_off',
    faceTrackPath,
  });
}
