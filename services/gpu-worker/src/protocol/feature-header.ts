import { closeSync, constants, openSync, readSync } from 'node:fs';
import { type FeatureLayout } from './feature-layout';

/**
 * What a file of features holds and what it was computed from; files that differ in any field are not interchangeable.
 */
export interface FeatureOrigin extends FeatureLayout {
  /** The analyzer whose landmarks placed the crops, and the version of its track. */
  readonly analyzerVersion: string;
  readonly trackVersion: string;
}

/*
 * A file of features begins with a header of 512 bytes: 4 bytes "LSFF", then the origin as JSON, padded with zeros. The
 * records follow. Of a file that the inference process wrote, the worker reads nothing but this header.
 */
const MAGIC = Buffer.from('LSFF');
export const HEADER_BYTES = 512;

/** Number of leading bytes of a file that hold the records of the first `frames` source frames. */
export function bytesOfFirst(frames: number, { values }: FeatureLayout): number {
  return HEADER_BYTES + frames * 4 * (1 + values);
}

/** Whether a file starts with the header of this origin. */
export function isOfOrigin(path: string, origin: FeatureOrigin): boolean {
  const file = openSync(path, constants.O_RDONLY);
  try {
    return hasHeader(file, headerOf(origin));
  } finally {
    closeSync(file);
  }
}

export function headerOf({ version, values, analyzerVersion, trackVersion }: FeatureOrigin): Buffer {
  const json = Buffer.from(JSON.stringify({ version, values, analyzerVersion, trackVersion }));
  if (MAGIC.length + json.length > HEADER_BYTES)
    throw new RangeError('the origin does not fit into the header');
  return Buffer.concat([MAGIC, json], HEADER_BYTES);
}

/** Whether an open file starts with this header. */
export function hasHeader(file: number, header: Buffer): boolean {
  const found = Buffer.alloc(HEADER_BYTES);
  return readSync(file, found, 0, HEADER_BYTES, 0) === HEADER_BYTES && found.equals(header);
}
