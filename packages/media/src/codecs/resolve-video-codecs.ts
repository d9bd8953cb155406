import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Binaries } from '../ffmpeg/binaries';
import {
  SOFTWARE_CODECS,
  type VideoCodecs,
  type VideoDecoder,
  type VideoEncoder,
} from '../ffmpeg/video-codecs';
import { createTrialClip, decodeTrialClip, trialFrames } from './trial-clip';

/** What an operator asks for; `auto` uses a card where the card works. */
export interface WantedVideoCodecs {
  readonly encoder: VideoEncoder | 'auto';
  readonly decoder: VideoDecoder | 'auto';
}

export interface ResolvedVideoCodecs {
  readonly codecs: VideoCodecs;
  /** What `auto` tried and passed over, and why. */
  readonly passedOver: readonly { readonly codec: string; readonly reason: string }[];
}

/** A codec that the operator asked for by name does not work on this machine. */
export class VideoCodecError extends Error {
  override readonly name = 'VideoCodecError';
}

/**
 * Chooses the codecs by encoding and decoding a tiny clip with each candidate that runs on a card, exactly as real work
 * would. Run once at start. @throws VideoCodecError when a codec that was asked for by name does not work.
 */
export async function resolveVideoCodecs(
  binaries: Binaries,
  wanted: WantedVideoCodecs,
): Promise<ResolvedVideoCodecs> {
  const passedOver: { codec: string; reason: string }[] = [];
  const folder = await mkdtemp(join(tmpdir(), 'video-codecs-'));

  async function choose<Name extends string>(
    choice: { wanted: Name | 'auto'; device: Name; software: Name; variable: string },
    attempt: (name: Name) => Promise<void>,
  ): Promise<Name> {
    const { wanted: name, device, software, variable } = choice;
    if (name === software) return software;
    try {
      await attempt(device);
      return device;
    } catch (error) {
      const reason = firstLine(error);
      if (name !== 'auto') throw new VideoCodecError(`${variable}=${name} does not work here: ${reason}`);
      passedOver.push({ codec: device, reason });
      return software;
    }
  }

  try {
    const encoder = await choose(
      { wanted: wanted.encoder, device: 'h264_nvenc', software: 'libx264', variable: 'VIDEO_ENCODER' },
      (name) => tryEncoder(binaries, folder, name),
    );
    const decoder = await choose(
      { wanted: wanted.decoder, device: 'cuda', software: 'software', variable: 'VIDEO_DECODER' },
      (name) => tryDecoder(binaries, folder, name),
    );
    return { codecs: { encoder, decoder }, passedOver };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Every frame that went in must come out and look like the original. */
async function tryEncoder(binaries: Binaries, folder: string, encoder: VideoEncoder): Promise<void> {
  const clip = await createTrialClip(binaries, folder, encoder);
  const decoded = await decodeTrialClip(binaries, clip, SOFTWARE_CODECS.decoder);
  const drawn = trialFrames();
  if (decoded.length !== drawn.length)
    throw new Error(`${decoded.length} of ${drawn.length} frames came out`);
  const worst = Math.max(...decoded.map((frame, i) => meanDifference(frame, drawn[i] ?? frame)));
  if (worst > MEAN_DIFFERENCE_MAX) throw new Error(`frames come out changed by ${worst.toFixed(1)} of 255`);
}

/** H.264 has exactly one correct decoding, so the bytes must equal those of the software decoder. */
async function tryDecoder(binaries: Binaries, folder: string, decoder: VideoDecoder): Promise<void> {
  const clip = await createTrialClip(binaries, folder, SOFTWARE_CODECS.encoder);
  const [tried, known] = [
    await decodeTrialClip(binaries, clip, decoder),
    await decodeTrialClip(binaries, clip, SOFTWARE_CODECS.decoder),
  ];
  if (Buffer.compare(Buffer.concat(tried), Buffer.concat(known)) !== 0)
    throw new Error('it decodes to other pictures than software');
}

/** Far above what any sane encoder does to smooth pictures, far below what a wrong picture shows. */
const MEAN_DIFFERENCE_MAX = 8;

function meanDifference(a: Uint8Array, b: Uint8Array): number {
  let sum = 0;
  a.forEach((sample, i) => (sum += Math.abs(sample - (b[i] ?? 0))));
  return sum / a.length;
}

/** ffmpeg reports the cause first and its consequences afterwards. */
function firstLine(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.split('\n', 1)[0] ?? message;
}
