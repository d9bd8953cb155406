import { open } from 'node:fs/promises';

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
