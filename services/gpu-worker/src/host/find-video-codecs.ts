import { resolveBinaries, resolveVideoCodecs } from '@lipsync/media';
import { type Logger } from '@lipsync/runtime';
import { type GpuWorkerEnv } from '../env';

/**
 * The codecs for the inference processes, as the settings ask for them and as a trial on this machine allows; as
 * variables of their environment. @throws VideoCodecError when one that is asked for by name does not work.
 */
export async function findVideoCodecs(
  env: Pick<GpuWorkerEnv, 'FFMPEG_BIN' | 'FFPROBE_BIN' | 'VIDEO_ENCODER' | 'VIDEO_DECODER'>,
  logger: Logger,
): Promise<{ VIDEO_ENCODER: string; VIDEO_DECODER: string }> {
  const { FFMPEG_BIN, FFPROBE_BIN, VIDEO_ENCODER, VIDEO_DECODER } = env;
  const { PATH, LD_LIBRARY_PATH, CUDA_VISIBLE_DEVICES, CUDA_DEVICE_ORDER } = process.env;
  const device = { LD_LIBRARY_PATH, CUDA_VISIBLE_DEVICES, CUDA_DEVICE_ORDER };
  const binaries = await resolveBinaries({ FFMPEG_BIN, FFPROBE_BIN, PATH, ...device });
  const { codecs, passedOver } = await resolveVideoCodecs(binaries, {
    encoder: VIDEO_ENCODER,
    decoder: VIDEO_DECODER,
  });
  for (const { codec, reason } of passedOver) logger.warn('video codec not available', { codec, reason });
  logger.info('video codecs', { video_encoder: codecs.encoder, video_decoder: codecs.decoder });
  return { VIDEO_ENCODER: codecs.encoder, VIDEO_DECODER: codecs.decoder };
}
