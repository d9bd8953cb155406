import { type FileHandle, open } from 'node:fs/promises';

/** Opening bytes of the accepted containers, by offset; latin1 text. */
const SIGNATURES: readonly { offset: number; starts: readonly string[] }[] = [
  { offset: 4, starts: ['ftyp', 'moov', 'mdat', 'wide', 'free', 'skip'] }, // MP4, QuickTime
  { offset: 0, starts: ['\u001a\u0045\u00df\u00a3'] }, // Matroska, WebM
  { offset: 8, starts: ['WAVE'] },
  { offset: 0, starts: ['ID3', 'fLaC', 'OggS'] },
];
/** MPEG audio and ADTS: eleven set bits open a frame. */
const FRAME_SYNC_FIRST = 0xff;
const FRAME_SYNC_SECOND = 0xe0;

/**
 * Whether a file starts like an accepted container, or has no start at all. If so, an unreadable file is damaged;
 * otherwise it is something else.
 */
export async function looksLikeMedia(path: string): Promise<boolean> {
  const handle = await open(path, 'r');
  try {
    const head = Buffer.alloc(16);
    const { bytesRead } = await handle.read(head, 0, head.length, 0);
    if (bytesRead === 0) return true;
    const text = head.toString('latin1', 0, bytesRead);
    const signed = SIGNATURES.some(({ offset, starts }) =>
      starts.some((start) => text.startsWith(start, offset)),
    );
    return signed || (head.readUInt8(0) === FRAME_SYNC_FIRST && head.readUInt8(1) >= FRAME_SYNC_SECOND);
  } finally {
    await handle.close();
  }
}

const HEADER_BYTES = 7;
const WINDOW_BYTES = 256 * 1024;
/** Twelve set bits and a layer of zero; the bits between are the version and whether there is a checksum. */
const SYNC = 0xfff0;
const SYNC_MASK = 0xfff6;
/** Profile, sample rate and channels; the bit between is the encoder's own. */
const CONFIGURATION_MASK = 0xfdc0;

/**
 * Whether every frame of a raw AAC stream has the profile, sample rate and channels of the first. Joined files may
 * change them midway, which an MP4 track cannot. Also false if there is anything between the frames, such as tags.
 * ADTS: ISO/IEC 13818-7, 6.2.
 */
export async function isSteadyAdts(path: string): Promise<boolean> {
  const file = await open(path, 'r');
  try {
    const window = Buffer.alloc(WINDOW_BYTES);
    let configuration: number | undefined;
    for (let at = 0; ;) {
      const { bytesRead } = await file.read(window, 0, window.length, at);
      if (bytesRead < HEADER_BYTES) return configuration !== undefined;
      let frame = 0;
      while (frame + HEADER_BYTES <= bytesRead) {
        if ((window.readUInt16BE(frame) & SYNC_MASK) !== SYNC) return false;
        const found = window.readUInt16BE(frame + 2) & CONFIGURATION_MASK;
        configuration ??= found;
        const frameBytes = (window.readUIntBE(frame + 3, 3) >> 5) & 0x1fff;
        if (found !== configuration || frameBytes < HEADER_BYTES) return false;
        frame += frameBytes;
      }
      at += frame;
    }
  } finally {
    await file.close();
  }
}

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
