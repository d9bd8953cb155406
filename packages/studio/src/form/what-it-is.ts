/** What the first bytes of a file, and its table of contents, say of it. */
export interface WhatItIs {
  /** “MP4”, “Matroska”; null if it is none that is known here. */
  readonly container: string | null;
  /** The video's: “HEVC”. Null if there is none, or if it is not known here. */
  readonly codec: string | null;
  readonly seconds: number | null;
  /** “1920 × 1080” */
  readonly size: string | null;
  /** It is text, whatever its name says. */
  readonly isText: boolean;
}

const UNKNOWN: WhatItIs = { container: null, codec: null, seconds: null, size: null, isText: false };

/** Enough of a Matroska file to hold its list of tracks, and of a text to be known as one. */
const BEGINNING_BYTES = 262_144;
/** A table of contents of five minutes has less. */
const MOOV_MAX_BYTES = 4_000_000;
/** Before the table of contents lie a few boxes; in a fragmented file it is among the first. */
const MAX_BOXES = 64;

/**
 * Reads what a file is, a few kilobytes of it: also of files that this browser cannot play. Nothing is known of one that is
 * cut off, or that cannot be read.
 */
export async function whatItIs(file: Blob): Promise<WhatItIs> {
  return factsOf(file).catch(() => UNKNOWN);
}

async function factsOf(file: Blob): Promise<WhatItIs> {
  const start = await bytesOf(file, 0, BEGINNING_BYTES);
  const letters = lettersOf(start);
  if (letters.slice(4, 8) === 'ftyp' || /^....(moov|mdat|wide|free|skip)/s.test(letters))
    return { ...UNKNOWN, container: nameOfBrand(letters.slice(4, 12)), ...(await factsOfMoov(file)) };
  if (letters.startsWith('\x1a\x45\xdf\xa3')) return factsOfMatroska(start, letters);
  if (/^G.{187}G|^.{4}G.{191}G/s.test(letters)) return { ...UNKNOWN, container: 'MPEG-TS' };
  return { ...UNKNOWN, isText: isText(start) };
}

const nameOfBrand = (brand: string): string =>
  brand.startsWith('ftyp') && brand !== 'ftypqt  ' ? 'MP4' : 'MOV';

/** By the names of sample entries in MP4 and MOV (mp4ra.org, QuickTime File Format). */
const ENTRIES: Readonly<Record<string, string>> = {
  ...{ avc1: 'H.264', avc3: 'H.264', hvc1: 'HEVC', hev1: 'HEVC', dvh1: 'HEVC', dvhe: 'HEVC' },
  ...{ av01: 'AV1', vp08: 'VP8', vp09: 'VP9', mp4v: 'MPEG-4' },
  ...{ apco: 'ProRes', apcs: 'ProRes', apcn: 'ProRes', apch: 'ProRes', ap4h: 'ProRes', ap4x: 'ProRes' },
  ...{ AVdn: 'DNxHD', AVdh: 'DNxHR', jpeg: 'Motion JPEG', mjpa: 'Motion JPEG', mjpb: 'Motion JPEG' },
};
const ENTRY = new RegExp(`stsd.{12}(${Object.keys(ENTRIES).join('|')})`, 's');

async function factsOfMoov(file: Blob): Promise<Partial<WhatItIs>> {
  const moov = await findMoov(file);
  if (moov === null) return {};
  const letters = lettersOf(moov);
  const view = new DataView(moov.buffer);
  const number = (at: number, read: 'getUint8' | 'getUint16' | 'getUint32'): number =>
    at >= 0 && at + 8 <= moov.length ? view[read](at) : 0;
  const header = letters.indexOf('mvhd');
  // Version 1 has times of eight bytes; lengths that need them all are none of ours.
  const [scale, length] = number(header + 4, 'getUint8') === 1 ? [24, 32] : [16, 20];
  const seconds = number(header + length, 'getUint32') / number(header + scale, 'getUint32');
  const entry = ENTRY.exec(letters);
  const name = entry === null ? 0 : entry.index + 16;
  const [width, height] = [number(name + 28, 'getUint16'), number(name + 30, 'getUint16')];
  return {
    codec: ENTRIES[entry?.[1] ?? ''] ?? null,
    seconds: header >= 0 && Number.isFinite(seconds) && seconds > 0 ? seconds : null,
    size: entry === null || width === 0 ? null : `${width} × ${height}`,
  };
}

/** The table of contents: at the beginning, or behind all pictures. */
async function findMoov(file: Blob): Promise<Uint8Array<ArrayBuffer> | null> {
  for (let at = 0, boxes = 0; at + 16 <= file.size && boxes < MAX_BOXES; boxes++) {
    const head = await bytesOf(file, at, 16);
    const view = new DataView(head.buffer);
    const short = view.getUint32(0);
    const size = short === 1 ? Number(view.getBigUint64(8)) : short === 0 ? file.size - at : short;
    if (lettersOf(head).slice(4, 8) === 'moov') return bytesOf(file, at, Math.min(size, MOOV_MAX_BYTES));
    if (size < 8) return null;
    at += size;
  }
  return null;
}

/** By codec ids of Matroska (matroska.org). */
const TRACKS: readonly (readonly [RegExp, string])[] = [
  [/^V_MPEG4\/ISO\/AVC/, 'H.264'],
  [/^V_MPEGH\/ISO\/HEVC/, 'HEVC'],
  [/^V_AV1/, 'AV1'],
  [/^V_VP8/, 'VP8'],
  [/^V_VP9/, 'VP9'],
  [/^V_PRORES/, 'ProRes'],
  [/^V_MPEG[12]/, 'MPEG-2'],
  [/^V_MPEG4/, 'MPEG-4'],
  [/^V_MJPEG/, 'Motion JPEG'],
];

function factsOfMatroska(start: Uint8Array<ArrayBuffer>, letters: string): WhatItIs {
  const view = new DataView(start.buffer);
  const track = /V_[A-Z0-9/_]+/.exec(letters)?.[0] ?? '';
  // TimestampScale, in nanoseconds, and Duration, a float of four or eight bytes.
  const scaleAt = letters.indexOf('\x2a\xd7\xb1\x83');
  const scale = scaleAt < 0 ? 1e6 : view.getUint32(scaleAt + 3) & 0xff_ff_ff;
  const length = /\x44\x89([\x84\x88])/.exec(letters);
  const at = (length?.index ?? -1) + 3;
  const ticks =
    length === null || at + 8 > start.length
      ? 0
      : length[1] === '\x84'
        ? view.getFloat32(at)
        : view.getFloat64(at);
  return {
    ...UNKNOWN,
    container: /webm/.test(letters.slice(0, 64)) ? 'WebM' : 'Matroska',
    codec: TRACKS.find(([pattern]) => pattern.test(track))?.[1] ?? null,
    seconds: ticks > 0 ? (ticks * scale) / 1e9 : null,
  };
}

/** No medium is without bytes that no text has. */
function isText(start: Uint8Array): boolean {
  return start.length > 0 && start.every((byte) => byte >= 32 || (byte >= 9 && byte <= 13));
}

async function bytesOf(file: Blob, from: number, length: number): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await file.slice(from, from + length).arrayBuffer());
}

/** A letter for each byte. TextDecoder reads “latin1” as Windows-1252, where some bytes become other letters. */
function lettersOf(bytes: Uint8Array): string {
  let letters = '';
  for (let at = 0; at < bytes.length; at += 8192)
    letters += String.fromCharCode(...bytes.subarray(at, at + 8192));
  return letters;
}
