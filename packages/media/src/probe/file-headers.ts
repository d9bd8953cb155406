import { open } from 'node:fs/promises';

/** Opening bytes of the accepted containers, by offset; latin1 text. */
const SIGNATURES: readonly { offset: number; starts: readonly string[] }[] = [
  { offset: 4, starts: ['ftyp', 'moov', 'mdat', 'wide', 'free', 'skip'] }, // MP4, QuickTime
  { offset: 0, starts: ['\u001a\u0045\u00df\u00a3'] }, // Matroska, WebM
  { offset: 8, starts: ['WAVE', 'AIFF', 'AIFC'] },
  { offset: 0, starts: ['ID3', 'fLaC', 'OggS'] },
  { offset: 0, starts: ['\u000b\u0077'] }, // AC-3, E-AC-3
  { offset: 0, starts: ['\u0030\u0026\u00b2\u0075\u008e\u0066\u00cf\u0011'] }, // ASF
];
/** MPEG audio and ADTS: eleven set bits open a frame. */
const FRAME_SYNC_FIRST = 0xff;
const FRAME_SYNC_SECOND = 0xe0;
/** Each packet of MPEG-TS begins with this byte; camcorders put four bytes of time before each. */
const PACKET_SYNC = 0x47;
const PACKETS: readonly { offset: number; bytes: number }[] = [
  { offset: 0, bytes: 188 },
  { offset: 4, bytes: 192 },
];
const HEAD_BYTES = 256;

/**
 * Whether a file starts like an accepted container, or has no start at all. If so, an unreadable file is damaged;
 * otherwise it is something else.
 */
export async function looksLikeMedia(path: string): Promise<boolean> {
  const handle = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    if (bytesRead === 0) return true;
    const text = buffer.toString('latin1', 0, bytesRead);
    return (
      SIGNATURES.some(({ offset, starts }) => starts.some((start) => text.startsWith(start, offset))) ||
      (buffer.readUInt8(0) === FRAME_SYNC_FIRST && buffer.readUInt8(1) >= FRAME_SYNC_SECOND) ||
      PACKETS.some(({ offset, bytes }) =>
        [offset, offset + bytes].every((at) => buffer.readUInt8(at) === PACKET_SYNC),
      )
    );
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
