import { type Clock, secondsAt, usualStep } from '@lipsync/domain';
import { type HdrMetadata } from '../probe/stream-info';

/**
 * Raw pictures with the time of each, as ffmpeg reads them from a pipe: Matroska (RFC 9559), with one cluster for each
 * picture. A pipe of bare pictures could only have a constant rate.
 */
interface TimedPictures {
  readonly width: number;
  readonly height: number;
  readonly depth: 8 | 10;
  readonly clock: Clock;
  readonly hdr?: HdrMetadata;
}

/** Samples in planes, 4:2:0, by the names that ffmpeg's raw pictures have ("fourcc"). */
const FOURCC = { 8: Buffer.from('I420'), 10: Buffer.from('Y3\x0b\x0a') };

export function pictureBytes({ width, height, depth }: Omit<TimedPictures, 'clock' | 'hdr'>): number {
  return ((width * height * 3) / 2) * (depth === 8 ? 1 : 2);
}

/** ffmpeg's arguments for such an input: it must not wait for more than the first picture. */
export function timedPicturesInput(): string[] {
  return [...'-f matroska -probesize 32 -analyzeduration 0 -fpsprobesize 0 -i pipe:0'.split(' ')];
}

/** What precedes the first picture. */
export function streamHeader({ width, height, depth, clock, hdr = {} }: TimedPictures): Uint8Array {
  const video = element(
    ID.Video,
    uint(ID.PixelWidth, width),
    uint(ID.PixelHeight, height),
    element(ID.UncompressedFourCC, FOURCC[depth]),
    light(hdr),
  );
  const track = element(
    ID.TrackEntry,
    uint(ID.TrackNumber, TRACK),
    uint(ID.TrackUID, TRACK),
    uint(ID.TrackType, 1),
    uint(ID.FlagLacing, 0),
    // Only a hint of the rate, from which encoders choose their level.
    uint(ID.DefaultDuration, Math.round((usualStep(clock) / clock.timescale) * NANOSECONDS)),
    text(ID.CodecID, 'V_UNCOMPRESSED'),
    video,
  );
  return Buffer.concat([
    element(
      ID.EBML,
      text(ID.DocType, 'matroska'),
      uint(ID.DocTypeVersion, 4),
      uint(ID.DocTypeReadVersion, 2),
    ),
    ...[idBytes(ID.Segment), UNKNOWN_SIZE],
    element(
      ID.Info,
      uint(ID.TimestampScale, 1),
      text(ID.MuxingApp, 'lipsync'),
      text(ID.WritingApp, 'lipsync'),
    ),
    element(ID.Tracks, track),
  ]);
}

/** What precedes each picture. */
export function pictureHeader(pictures: TimedPictures, index: number): Uint8Array {
  // Track number, time relative to the cluster, and the flag of a keyframe.
  const block = Buffer.from([0x80 | TRACK, 0, 0, 0x80]);
  const blockBytes = block.length + pictureBytes(pictures);
  const time = uint(ID.Timestamp, Math.round(secondsAt(pictures.clock, index) * NANOSECONDS));
  const blockHeader = Buffer.concat([idBytes(ID.SimpleBlock), sizeBytes(blockBytes)]);
  const clusterBytes = time.length + blockHeader.length + blockBytes;
  return Buffer.concat([idBytes(ID.Cluster), sizeBytes(clusterBytes), time, blockHeader, block]);
}

const NANOSECONDS = 1e9;
const TRACK = 1;

/** RFC 9559, 5.1, and RFC 8794, 11.2. */
const ID = {
  EBML: 0x1a45dfa3,
  DocType: 0x4282,
  DocTypeVersion: 0x4287,
  DocTypeReadVersion: 0x4285,
  Segment: 0x18538067,
  Info: 0x1549a966,
  TimestampScale: 0x2ad7b1,
  MuxingApp: 0x4d80,
  WritingApp: 0x5741,
  Tracks: 0x1654ae6b,
  TrackEntry: 0xae,
  TrackNumber: 0xd7,
  TrackUID: 0x73c5,
  TrackType: 0x83,
  FlagLacing: 0x9c,
  DefaultDuration: 0x23e383,
  CodecID: 0x86,
  Video: 0xe0,
  PixelWidth: 0xb0,
  PixelHeight: 0xba,
  UncompressedFourCC: 0x2eb524,
  Colour: 0x55b0,
  MaxCLL: 0x55bc,
  MaxFALL: 0x55bd,
  MasteringMetadata: 0x55d0,
  /** x and y of red, green, blue and white have this number and the next seven. */
  FirstChromaticity: 0x55d1,
  LuminanceMax: 0x55d9,
  LuminanceMin: 0x55da,
  Cluster: 0x1f43b675,
  Timestamp: 0xe7,
  SimpleBlock: 0xa3,
} as const;

/** ffmpeg writes this into the MP4 (`mdcv` and `clli`), whatever the encoder makes of it. */
function light({ masteringDisplay: display, contentLight: content }: HdrMetadata): Uint8Array {
  const mastering = display && [
    ...[display.red, display.green, display.blue, display.white]
      .flat()
      .map((value, i) => float(ID.FirstChromaticity + i, value / 50_000)),
    float(ID.LuminanceMax, display.luminance.max / 10_000),
    float(ID.LuminanceMin, display.luminance.min / 10_000),
  ];
  return element(
    ID.Colour,
    ...(content ? [uint(ID.MaxCLL, content.maxCll), uint(ID.MaxFALL, content.maxFall)] : []),
    ...(mastering ? [element(ID.MasteringMetadata, ...mastering)] : []),
  );
}

/** An element is its identifier, the number of bytes that follow, and these. */
function element(id: number, ...body: readonly Uint8Array[]): Buffer {
  const bytes = body.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([idBytes(id), sizeBytes(bytes), ...body]);
}

/** An identifier, which shows its own length; written without leading zeros. */
function idBytes(id: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(id);
  return bytes.subarray(Math.clz32(id) >> 3);
}

/** Seven bytes of a size, behind the one that says so. */
function sizeBytes(bytes: number): Buffer {
  const size = Buffer.alloc(8);
  size.writeBigUInt64BE((0x01n << 56n) | BigInt(bytes));
  return size;
}

const UNKNOWN_SIZE = Buffer.from('01ffffffffffffff', 'hex');

function uint(id: number, value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return element(id, bytes);
}

function float(id: number, value: number): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return element(id, bytes);
}

function text(id: number, value: string): Buffer {
  return element(id, Buffer.from(value));
}
