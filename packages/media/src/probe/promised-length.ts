import { type FileHandle, open } from 'node:fs/promises';

/** Where a header says that the sound lies. */
interface Promised {
  readonly start: number;
  readonly bytes: number;
}

/** How each container of sound says it, by ffprobe's name. */
const READERS: Readonly<Record<string, (file: FileHandle) => Promise<Promised | undefined>>> = {
  wav: (file) => soundChunk(file, 'data', (header) => header.readUInt32LE(4)),
  aiff: (file) => soundChunk(file, 'SSND', (header) => header.readUInt32BE(4)),
  asf: dataObject,
};
/** A writer to a pipe cannot go back to fill in the final length, so it states none or the largest it can. */
const UNKNOWN_FROM = 0x7f00_0000;
/** How far writers get the length wrong. */
const TOLERATED_BYTES = 4096;

/**
 * Whether a file is shorter than the sound that its header promises: nothing else reveals that a WAV, an AIFF or a WMA
 * was cut short. An implausible length is no promise, and other containers make none here.
 */
export async function isCutShort(path: string, format: string): Promise<boolean> {
  const read = READERS[format];
  if (read === undefined) return false;
  const file = await open(path, 'r');
  try {
    const sound = await read(file);
    if (sound === undefined || sound.bytes === 0 || sound.bytes >= UNKNOWN_FROM) return false;
    const { size } = await file.stat();
    return sound.start + sound.bytes > size + TOLERATED_BYTES;
  } finally {
    await file.close();
  }
}

/** RIFF or FORM, the total length, WAVE, AIFF or AIFC. */
const FILE_HEADER_BYTES = 12;
/** A four-letter name and a length. */
const CHUNK_HEADER_BYTES = 8;
/** More chunks than any writer puts before the sound. */
const CHUNKS_MAX = 64;

async function soundChunk(
  file: FileHandle,
  name: string,
  lengthIn: (header: Buffer) => number,
): Promise<Promised | undefined> {
  const header = Buffer.alloc(CHUNK_HEADER_BYTES);
  let at = FILE_HEADER_BYTES;
  for (let chunk = 0; chunk < CHUNKS_MAX; chunk += 1) {
    const { bytesRead } = await file.read(header, 0, header.length, at);
    if (bytesRead < header.length) return undefined;
    const start = at + header.length;
    const bytes = lengthIn(header);
    if (header.toString('latin1', 0, 4) === name) return { start, bytes };
    // Chunks begin at even offsets.
    at = start + bytes + (bytes % 2);
  }
  return undefined;
}

/** A GUID and a length of 64 bits, which includes both. */
const OBJECT_HEADER_BYTES = 24;
/** What a writer to a pipe calls the length of the data: that of its header. */
const EMPTY_DATA_BYTES = 50;

/** The second object of an ASF file, after the headers. ASF specification, 3.1 and 5.1. */
async function dataObject(file: FileHandle): Promise<Promised | undefined> {
  const header = Buffer.alloc(OBJECT_HEADER_BYTES);
  const lengthAt = async (position: number): Promise<number | undefined> => {
    const { bytesRead } = await file.read(header, 0, header.length, position);
    return bytesRead < header.length ? undefined : Number(header.readBigUInt64LE(16));
  };
  const start = await lengthAt(0);
  if (start === undefined || !Number.isSafeInteger(start)) return undefined;
  const bytes = await lengthAt(start);
  return bytes === undefined || bytes <= EMPTY_DATA_BYTES ? undefined : { start, bytes };
}
