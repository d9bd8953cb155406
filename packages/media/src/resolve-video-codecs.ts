import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, endOf, secondsAt } from '@lipsync/domain';
import { requireToneMapping } from './decode/picture-filters';
import { openPictureDecoder } from './decode/picture-reader';
import { openFrameEncoder } from './encode/encoder';
import {
  type Binaries,
  ENCODER_DEPTH,
  SOFTWARE_CODECS,
  type VideoCodecs,
  type VideoDecoder,
  type VideoEncoder,
  type VideoOutput,
} from './ffmpeg/binaries';
import { inspect } from './probe/inspect';
import { readPacketTable } from './probe/packet-table';

/** What an operator asks for; `auto` uses a card where the card works. */
interface WantedVideoCodecs {
  readonly encoder: VideoCodecs['encoder'] | 'auto';
  readonly decoder: VideoDecoder | 'auto';
  readonly output: VideoOutput;
}

interface ResolvedVideoCodecs {
  readonly codecs: VideoCodecs;
  /** `h264` also where nothing can encode 10 bits. */
  readonly output: VideoOutput;
  /** What was tried and passed over, and why. */
  readonly passedOver: readonly { readonly codec: string; readonly reason: string }[];
}

/** A codec that the operator asked for by name does not work on this machine. */
class VideoCodecError extends Error {
  override readonly name = 'VideoCodecError';
}

/**
 * Chooses the codecs by encoding and decoding a tiny clip with each candidate that not every machine has, exactly as real
 * work would. A card that is to encode 8 bits also encodes 10 if it can; otherwise x265 does, if ffmpeg has that. Run once
 * at start. @throws VideoCodecError when a codec that was asked for by name does not work, and Error when HDR is to come back
 * as H.264 and cannot.
 */
export async function resolveVideoCodecs(
  binaries: Binaries,
  wanted: WantedVideoCodecs,
): Promise<ResolvedVideoCodecs> {
  const passedOver: { codec: string; reason: string }[] = [];
  const folder = await mkdtemp(join(tmpdir(), 'video-codecs-'));

  async function works<Name extends string>(
    name: Name,
    attempt: (name: Name) => Promise<void>,
  ): Promise<boolean> {
    try {
      await attempt(name);
      return true;
    } catch (error) {
      passedOver.push({ codec: name, reason: firstLine(error) });
      return false;
    }
  }

  async function choose<Name extends string>(
    choice: { wanted: Name | 'auto'; device: Name; software: Name; variable: string },
    attempt: (name: Name) => Promise<void>,
  ): Promise<Name> {
    const { wanted: name, device, software, variable } = choice;
    if (name === software) return software;
    if (await works(device, attempt)) return device;
    if (name === 'auto') return software;
    throw new VideoCodecError(`${variable}=${name} does not work here: ${passedOver.at(-1)?.reason}`);
  }

  try {
    const encode = (name: VideoEncoder): Promise<void> => tryEncoder(binaries, folder, name);
    const encoder = await choose<VideoCodecs['encoder']>(
      { wanted: wanted.encoder, device: 'h264_nvenc', software: 'libx264', variable: 'VIDEO_ENCODER' },
      encode,
    );
    const decoder = await choose(
      { wanted: wanted.decoder, device: 'cuda', software: 'software', variable: 'VIDEO_DECODER' },
      (name) => tryDecoder(binaries, folder, name),
    );
    const { deepEncoder: software } = SOFTWARE_CODECS;
    const codecs = { encoder, deepEncoder: software, decoder };
    if (wanted.output === 'h264') {
      await requireToneMapping(binaries);
      return { codecs, output: 'h264', passedOver };
    }
    if (encoder === 'h264_nvenc' && (await works('hevc_nvenc', encode)))
      return { codecs: { ...codecs, deepEncoder: 'hevc_nvenc' }, output: 'source', passedOver };
    return { codecs, output: (await works(software, encode)) ? 'source' : 'h264', passedOver };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Every frame that went in must come out at its time, in the depth that it had, and look like the original. */
async function tryEncoder(binaries: Binaries, folder: string, encoder: VideoEncoder): Promise<void> {
  const clip = await createTrialClip(binaries, folder, encoder);
  const { video } = await inspect(binaries, clip);
  if (video?.depth !== ENCODER_DEPTH[encoder]) throw new Error(`frames come out in ${video?.pixFmt}`);
  const { pts } = await readPacketTable(binaries, clip, FRAMES);
  const late = (tick: number, frame: number): number =>
    Math.abs((tick * video.timeBase.num) / video.timeBase.den - secondsAt(CLOCK, frame));
  const displaced = Math.max(...pts.toSorted((a, b) => a - b).map(late));
  if (displaced > DISPLACED_SECONDS_MAX) throw new Error(`frames come out displaced by ${displaced} s`);
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

/** Ticks may be rounded. */
const DISPLACED_SECONDS_MAX = 1e-4;
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

/** Large enough for a card; the clip has more frames than encoders hold back. */
const SIDE = 256;
const FRAMES = 30;
const LUMA_BYTES = SIDE * SIDE;
/** A card that is busy or has just woken needs time; a card that hangs does not work. */
const DEADLINE_MS = 60_000;

/** Variable, which not every version of ffmpeg gets right with every card. */
const CLOCK: Clock = {
  timescale: 1000,
  ticks: Uint32Array.from({ length: FRAMES + 1 }, (_, frame) => frame * 40 + (frame % 2) * 13),
};

/** The frames of the clip: a moving luma ramp with neutral chroma, 4:2:0, 8 bits. */
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
  await writeFile(path, silence(endOf(CLOCK)));
  const { audio: stream } = await inspect(binaries, path);
  if (stream === undefined) throw new Error('the silence of a trial has no sound');
  const depth = ENCODER_DEPTH[encoder];
  const pictures = { width: SIDE, height: SIDE, depth, clock: CLOCK };
  const settings = { outputPath, ...pictures, color: {}, audio: { path, stream } };
  const encoding = openFrameEncoder(binaries, settings, encoder, { deadlineMs: DEADLINE_MS });
  try {
    for (const frame of trialFrames()) await encoding.write(depth === 8 ? frame : deepened(frame));
    await encoding.finish();
  } finally {
    await encoding.abort();
  }
  return outputPath;
}

/** The same samples in 10 bits. */
function deepened(frame: Uint8Array): Uint8Array {
  const deep = Buffer.alloc(2 * frame.length);
  frame.forEach((sample, i) => deep.writeUInt16LE(4 * sample, 2 * i));
  return deep;
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
  const reader = openPictureDecoder(binaries, decoding, { deadlineMs: DEADLINE_MS });
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
