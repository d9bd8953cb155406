import { type FileHandle } from 'node:fs/promises';

/** A box of an ISO base media file (ISO/IEC 14496-12): where it is, header included, in bytes. */
export interface Box {
  readonly type: string;
  readonly offset: number;
  readonly size: number;
}

/** The user type of the `uuid` box that holds a C2PA manifest store (C2PA 2.2, A.5.1). */
export const C2PA_USER_TYPE = Buffer.from('d8fec3d61b0e483c92975828877ec481', 'hex');

/** The boxes that a hard binding leaves out, by C2PA's rule: the brands, the index of fragments, the manifest itself. */
export const UNBOUND = ['ftyp', 'mfra'];

const HEADER_BYTES = 8;
/** A box begins with at most this: a 64-bit size or a user type. */
const HEAD_BYTES = 24;

/**
 * As many as a video in fragments has. A customer could send one with millions of empty boxes, which would take minutes and
 * gigabytes to list.
 */
const BOXES_MAX = 20_000;

/** The boxes at the top of a file; null if that is not how the file is made, or there are more than anybody needs. */
export async function topLevelBoxes(file: FileHandle): Promise<Box[] | null> {
  const { size: end } = await file.stat();
  const boxes: Box[] = [];
  for (let offset = 0; offset < end;) {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, offset);
    const box = bytesRead < HEADER_BYTES ? null : boxAt(buffer.subarray(0, bytesRead), 0, end - offset);
    if (box === null || boxes.length === BOXES_MAX) return null;
    boxes.push({ ...box, offset });
    offset += box.size;
  }
  return boxes;
}

/** The box that begins at `position` and of whose file or parent `left` bytes are left; null if it does not fit. */
export function boxAt(bytes: Buffer, position: number, left: number): Box | null {
  if (left < HEADER_BYTES || position + HEADER_BYTES > bytes.length) return null;
  const type = bytes.toString('latin1', position + 4, position + HEADER_BYTES);
  const short = bytes.readUInt32BE(position);
  if (short === 1 && position + 16 > bytes.length) return null;
  const size = short === 1 ? Number(bytes.readBigUInt64BE(position + 8)) : short === 0 ? left : short;
  return size < HEADER_BYTES || size > left ? null : { type, offset: position, size };
}

/** The boxes inside a box whose content begins at `from` and ends at `to`; null if they do not fill it. */
export function childBoxes(bytes: Buffer, from: number, to: number): Box[] | null {
  const boxes: Box[] = [];
  for (let offset = from; offset < to;) {
    const box = boxAt(bytes, offset, to - offset);
    if (box === null) return null;
    boxes.push(box);
    offset += box.size;
  }
  return boxes;
}

/** Boxes that contain boxes, on the way from `moov` to the tables of chunks. */
const CONTAINERS = ['moov', 'trak', 'mdia', 'minf', 'stbl'];

/**
 * Adds `shift` bytes to the places of all chunks that the boxes of `bytes` name. Throws on a file of another kind than
 * ffmpeg writes, and when a place no longer fits.
 */
export function shiftChunks(bytes: Buffer, shift: number, from = 0, to = bytes.length): void {
  for (const { type, offset, size } of childBoxes(bytes, from, to) ?? unknownLayout()) {
    if (CONTAINERS.includes(type)) shiftChunks(bytes, shift, offset + HEADER_BYTES, offset + size);
    if (type !== 'stco' && type !== 'co64') continue;
    // A full box: version and flags, the number of entries, the entries.
    const count = bytes.readUInt32BE(offset + 12);
    const width = type === 'stco' ? 4 : 8;
    for (let entry = offset + 16; entry < offset + 16 + count * width; entry += width) {
      if (width === 4) bytes.writeUInt32BE(bytes.readUInt32BE(entry) + shift, entry);
      else bytes.writeBigUInt64BE(bytes.readBigUInt64BE(entry) + BigInt(shift), entry);
    }
  }
}

function unknownLayout(): never {
  throw new Error('the file is not laid out as an MP4');
}

const PURPOSE = Buffer.from('manifest\0', 'latin1');
/** Size, type, user type, version and flags, purpose, and where Merkle trees begin: nowhere. */
const PROVENANCE_HEADER_BYTES = HEADER_BYTES + C2PA_USER_TYPE.length + 4 + PURPOSE.length + 8;

/** The size of the box that holds a manifest store of so many bytes. */
export const provenanceBoxSize = (storeBytes: number): number => PROVENANCE_HEADER_BYTES + storeBytes;

/** The box that holds a manifest store (C2PA 2.2, A.5.3). */
export function provenanceBox(store: Uint8Array): Buffer {
  const box = Buffer.alloc(provenanceBoxSize(store.length));
  box.writeUInt32BE(box.length, 0);
  box.write('uuid', 4, 'latin1');
  C2PA_USER_TYPE.copy(box, HEADER_BYTES);
  PURPOSE.copy(box, HEADER_BYTES + C2PA_USER_TYPE.length + 4);
  box.set(store, PROVENANCE_HEADER_BYTES);
  return box;
}

/** The manifest store in a `uuid` box; null if it holds none. */
export function storeIn(box: Buffer): Buffer | null {
  const purpose = HEADER_BYTES + C2PA_USER_TYPE.length + 4;
  const isManifest =
    box.length > PROVENANCE_HEADER_BYTES &&
    box.subarray(HEADER_BYTES, HEADER_BYTES + C2PA_USER_TYPE.length).equals(C2PA_USER_TYPE) &&
    box.subarray(purpose, purpose + PURPOSE.length).equals(PURPOSE);
  return isManifest ? box.subarray(PROVENANCE_HEADER_BYTES) : null;
}
