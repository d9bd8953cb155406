import { resolveBinaries, resolveVideoCodecs } from '@lipsync/media';
import { type Logger } from '@lipsync/runtime';
import { type GpuWorkerEnv } from '../env';

/**
 * The codecs for the inference processes, as environment variables: those that the settings ask for and a trial on this
 * machine allows. `inherited` is this process's own environment, which says where a card's libraries are. @throws
 * VideoCodecError when a codec that is requested by name does not work, Error when there are no media tools, or none
 * that can be confined.
 */
export async function findVideoCodecs(
  env: Pick<GpuWorkerEnv, 'FFMPEG_BIN' | 'FFPROBE_BIN' | 'VIDEO_ENCODER' | 'VIDEO_DECODER' | 'MEDIA_SANDBOX'>,
  inherited: Readonly<Record<string, string | undefined>>,
  logger: Logger,
): Promise<{ VIDEO_ENCODER: string; VIDEO_DECODER: string }> {
  const { FFMPEG_BIN, FFPROBE_BIN, MEDIA_SANDBOX } = env;
  // Both settings may say `auto`, which no process can obey, so they are removed until they are resolved.
  const unresolved = { ...inherited, VIDEO_ENCODER: undefined, VIDEO_DECODER: undefined };
  const binaries = await resolveBinaries({ ...unresolved, FFMPEG_BIN, FFPROBE_BIN, MEDIA_SANDBOX });
  const { codecs, passedOver } = await resolveVideoCodecs(binaries, {
    encoder: env.VIDEO_ENCODER,
    decoder: env.VIDEO_DECODER,
  });
  for (const { codec, reason } of passedOver) logger.warn('video codec not available', { codec, reason });
  logger.info('video codecs', { video_encoder: codecs.encoder, video_decoder: codecs.decoder });
  return { VIDEO_ENCODER: codecs.encoder, VIDEO_DECODER: codecs.decoder };
}
