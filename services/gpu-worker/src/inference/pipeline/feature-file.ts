import { closeSync, constants, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import { type FaceTrack } from '@lipsync/lipsync';
import { type FeatureOrigin, hasHeader, HEADER_BYTES, headerOf } from '../../protocol/feature-header';
import { type FeatureLayout, isWorthKeeping } from '../../protocol/feature-layout';
import { type FrameFeatures, noFeatures } from '../engines/engine';

/**
 * Opens the file of a video's features that a task names; caches nothing when there is no path or nothing worth caching.
 */
export function openFeatures(path: string | undefined, layout: FeatureLayout, track: FaceTrack): FeatureFile {
  if (path === undefined || !isWorthKeeping(layout)) {
    return { ...noFeatures, added: () => 0, close: () => undefined };
  }
  const { version: trackVersion, analyzerVersion } = track;
  return openFeatureFile(path, { ...layout, trackVersion, analyzerVersion });
}

/**
 * Features in a file, so that memory does not grow with the video and another process can continue where this one ends.
 */
export interface FeatureFile extends FrameFeatures {
  /** Number of frames written since the file was opened, including those that replaced older values. */
  added(): number;
  close(): void;
}

/*
 * Layout: the header, then one record per source frame: a float32 that is 1 when the frame is present, and its values.
 * All numbers are little-endian, like all machines that the runtime is built for. Records are written in any order and
 * their flag last, so that a truncated record (full disk) counts as absent, as does one beyond the end of the file.
 */
const PRESENT = 1;
const FLAG_BYTES = 4;
const ABSENT = new Uint8Array(FLAG_BYTES);

/**
 * Opens the file of one engine's features of one video, and creates it if missing. Its content is discarded when it has
 * a different origin or was cut off before its first frame, so that features are recomputed rather than misread.
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
  /** The descriptor of a closed file may already belong to another file. */
  const expectOpen = (): void => {
    if (closed) throw new Error(`${path} is closed`);
  };

  return {
    has: (sourceIndex) => present.has(sourceIndex),
    read(sourceIndex, target, offset) {
      expectOpen();
      if (!present.has(sourceIndex)) throw new RangeError(`nothing is cached of frame ${sourceIndex}`);
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

/**
 * The frames stored in a file with this header; none if its header differs, and then the file is cleared. Closes the
 * file on failure.
 */
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

/** A full disk accepts part of the bytes, and fails when asked to write the rest. */
function writeWhole(file: number, bytes: Uint8Array, position: number): void {
  for (let done = 0; done < bytes.length;)
    done += writeSync(file, bytes, done, bytes.length - done, position + done);
}

function presentFrames(file: number, recordBytes: number): Set<number> {
  const present = new Set<number>();
  const flag = new Float32Array(1);
  const records = Math.floor((fstatSync(file).size - HEADER_BYTES) / recordBytes);
  // A truncated record already has its flag: writing a later record must not make it look complete.
  ftruncateSync(file, HEADER_BYTES + records * recordBytes);
  for (let index = 0; index < records; index++) {
    readSync(file, new Uint8Array(flag.buffer), 0, FLAG_BYTES, HEADER_BYTES + index * recordBytes);
    if (flag[0] === PRESENT) present.add(index);
  }
  return present;
}
