import { closeSync, constants, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import { type FeatureOrigin, HEADER_BYTES, hasHeader, headerOf } from '../../protocol/feature-header';
import { type FrameFeatures } from '../engines/engine';

/** Features in a file, so that memory does not grow with the video, and another process can go on where this one ends. */
export interface FeatureFile extends FrameFeatures {
  /** Frames written since the file was opened, also those of which it held something else before. */
  added(): number;
  close(): void;
}

/*
 * Layout: the header, then one record per source frame: a float32 that is 1 when the frame is present, and its values. All
 * numbers little-endian, as are all machines that the runtime is built for. Records are written in any order, the flag
 * last, so that one that breaks off (a full disk) is not present; nor is what lies beyond the end.
 */
const PRESENT = 1;
const FLAG_BYTES = 4;
const ABSENT = new Uint8Array(FLAG_BYTES);

/**
 * Opens the file of one engine's features of one video; makes it when it is not there. What was there is given up when
 * it has another origin or was cut short before its first frame: features are computed anew then, never misread.
 */
export function openFeatureFile(path: string, origin: FeatureOrigin): FeatureFile {
  const header = headerOf(origin);
  const record = new Float32Array(1 + origin.values);
  const values = record.subarray(1);
  const bytes = new Uint8Array(record.buffer);
  const placeOf = (sourceIndex: number): number => HEADER_BYTES + sourceIndex * bytes.length;
  const file = openSync(path, constants.O_RDWR | constants.O_CREAT);
  const present = presentFramesOf(file, header, bytes.length);
  const written = new Set<number>();
  let closed = false;
  /** The number of a closed file may already be another file's. */
  const expectOpen = (): void => {
    if (closed) throw new Error(`${path} is closed`);
  };

  return {
    has: (sourceIndex) => present.has(sourceIndex),
    read(sourceIndex, target, offset) {
      expectOpen();
      if (!present.has(sourceIndex)) throw new RangeError(`nothing is kept of frame ${sourceIndex}`);
      if (readSync(file, bytes, 0, bytes.length, placeOf(sourceIndex)) !== bytes.length)
        throw new Error(`the features of frame ${sourceIndex} are gone from ${path}`);
      target.set(values, offset);
    },
    write(sourceIndex, source, offset) {
      expectOpen();
      const place = placeOf(sourceIndex);
      record[0] = PRESENT;
      values.set(source.subarray(offset, offset + origin.values));
      if (present.has(sourceIndex)) writeWhole(file, ABSENT, place);
      present.delete(sourceIndex);
      writeWhole(file, bytes.subarray(FLAG_BYTES), place + FLAG_BYTES);
      writeWhole(file, bytes.subarray(0, FLAG_BYTES), place);
      present.add(sourceIndex);
      written.add(sourceIndex);
    },
    added: () => written.size,
    close() {
      if (!closed) closeSync(file);
      closed = true;
    },
  };
}

/** Frames that a file holds under this header: none if it has another, which it then loses. Closes the file on failure. */
function presentFramesOf(file: number, header: Buffer, recordBytes: number): Set<number> {
  try {
    if (!hasHeader(file, header)) {
      ftruncateSync(file, 0);
      writeWhole(file, header, 0);
    }
    return presentFrames(file, recordBytes);
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

/** A full disk takes a part of the bytes, and fails when asked to take the rest. */
function writeWhole(file: number, bytes: Uint8Array, position: number): void {
  for (let done = 0; done < bytes.length;)
    done += writeSync(file, bytes, done, bytes.length - done, position + done);
}

function presentFrames(file: number, recordBytes: number): Set<number> {
  const present = new Set<number>();
  const flag = new Float32Array(1);
  const records = Math.floor((fstatSync(file).size - HEADER_BYTES) / recordBytes);
  // A record that was cut short has its flag: it must not become whole when one behind it is written.
  ftruncateSync(file, HEADER_BYTES + records * recordBytes);
  for (let index = 0; index < records; index++) {
    readSync(file, new Uint8Array(flag.buffer), 0, FLAG_BYTES, HEADER_BYTES + index * recordBytes);
    if (flag[0] === PRESENT) present.add(index);
  }
  return present;
}
