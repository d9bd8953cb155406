import { open } from 'node:fs/promises';

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
