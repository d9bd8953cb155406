import { type FileHandle, open } from 'node:fs/promises';

/** RIFF, the total length, WAVE. */
const FILE_HEADER_BYTES = 12;
/** A four-letter name and a length. */
const CHUNK_HEADER_BYTES = 8;
/** More chunks than any writer puts before the sound. */
const CHUNKS_MAX = 64;
/** A writer to a pipe cannot go back to fill in the final length, so it states none or the largest it can. */
const UNKNOWN_FROM = 0x7f00_0000;
/** How far writers get the length wrong. */
const TOLERATED_BYTES = 4096;

/** Whether a WAV file is shorter than the sound its header promises. An implausible length is no promise. */
export async function isWavCutShort(path: string): Promise<boolean> {
  const file = await open(path, 'r');
  try {
    const sound = await soundChunk(file);
    if (sound === undefined || sound.bytes === 0 || sound.bytes >= UNKNOWN_FROM) return false;
    const { size } = await file.stat();
    return sound.start + sound.bytes > size + TOLERATED_BYTES;
  } finally {
    await file.close();
  }
}

async function soundChunk(file: FileHandle): Promise<{ start: number; bytes: number } | undefined> {
  const header = Buffer.alloc(CHUNK_HEADER_BYTES);
  let at = FILE_HEADER_BYTES;
  for (let chunk = 0; chunk < CHUNKS_MAX; chunk += 1) {
    const { bytesRead } = await file.read(header, 0, header.length, at);
    if (bytesRead < header.length) return undefined;
    const start = at + header.length;
    const bytes = header.readUInt32LE(4);
    if (header.toString('latin1', 0, 4) === 'data') return { start, bytes };
    // Chunks begin at even offsets.
    at = start + bytes + (bytes % 2);
  }
  return undefined;
}
