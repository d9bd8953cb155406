import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { WORKING_FPS } from '@lipsync/domain';
import { openFrameDecoder } from '../decode/frame-decoder';
import { openFrameEncoder } from '../encode/frame-encoder';
import { type Binaries } from '../ffmpeg/binaries';
import { type VideoDecoder, type VideoEncoder } from '../ffmpeg/video-codecs';
import { inspect } from '../probe/inspect';

/** Large enough for a card; the clip has more frames than encoders hold back. */
const SIDE = 256;
const FRAMES = 30;
const LUMA_BYTES = SIDE * SIDE;
/** A card that is busy or has just woken needs time; a card that hangs does not work. */
const DEADLINE_MS = 60_000;

/** The frames of the clip: a moving luma ramp with neutral chroma, 4:2:0. */
export function trialFrames(): Uint8Array[] {
  return Array.from({ length: FRAMES }, (_, n) => {
    const frame = new Uint8Array((LUMA_BYTES * 3) / 2).fill(128);
    for (let i = 0; i < LUMA_BYTES; i += 1) frame[i] = 16 + (((i % SIDE) + 4 * n) % SIDE) / 2;
    return frame;
  });
}

/** Writes the clip with the given encoder and no other. @throws MediaError, MediaProcessError. */
export async function createTrialClip(
  binaries: Binaries,
  folder: string,
  encoder: VideoEncoder,
): Promise<string> {
  const [outputPath, path] = [join(folder, `${encoder}.mp4`), join(folder, 'silence.wav')];
  await writeFile(path, silence(FRAMES / WORKING_FPS));
  const { audio: stream } = await inspect(binaries, path);
  if (stream === undefined) throw new Error('the silence of a trial has no sound');
  const sizes = { width: SIDE, height: SIDE, frames: FRAMES };
  const settings = { outputPath, ...sizes, color: {}, audio: { path, stream } };
  const encoding = openFrameEncoder(binaries, settings, encoder, { deadlineMs: DEADLINE_MS });
  try {
    for (const frame of trialFrames()) await encoding.write(frame);
    await encoding.finish();
  } finally {
    await encoding.abort();
  }
  return outputPath;
}

/** Decodes the clip's frames with the given decoder and no other. @throws MediaError, MediaProcessError. */
export async function decodeTrialClip(
  binaries: Binaries,
  file: string,
  decoder: VideoDecoder,
): Promise<Uint8Array[]> {
  const { video } = await inspect(binaries, file);
  if (video === undefined) throw new Error('the trial has no pictures');
  const decoding = { file, video, layout: { format: 'yuv420p' }, decoder } as const;
  const reader = openFrameDecoder(binaries, decoding, { deadlineMs: DEADLINE_MS });
  const frames: Uint8Array[] = [];
  try {
    for (;;) {
      const frame = new Uint8Array((LUMA_BYTES * 3) / 2);
      if (!(await reader.readInto(frame))) return frames;
      frames.push(frame);
    }
  } finally {
    await reader.close();
  }
}

/** A WAV file of 16-bit mono silence at 8 kHz. */
function silence(seconds: number): Uint8Array {
  const [rate, bytesPerSample, header] = [8000, 2, 44];
  const dataBytes = Math.ceil(seconds * rate) * bytesPerSample;
  const file = Buffer.alloc(header + dataBytes);
  file.write('RIFF', 0);
  file.writeUInt32LE(header - 8 + dataBytes, 4);
  file.write('WAVEfmt ', 8);
  file.writeUInt32LE(16, 16); // bytes of the format that follow
  file.writeUInt16LE(1, 20); // PCM
  file.writeUInt16LE(1, 22); // channels
  file.writeUInt32LE(rate, 24);
  file.writeUInt32LE(rate * bytesPerSample, 28);
  file.writeUInt16LE(bytesPerSample, 32);
  file.writeUInt16LE(8 * bytesPerSample, 34);
  file.write('data', 36);
  file.writeUInt32LE(dataBytes, 40);
  return file;
}
