import { randomBytes } from 'node:crypto';
import { type IdPrefix, newId } from '@lipsync/domain';
import { type Clock, systemClock } from './clock';

/** Makes a new identifier of the given kind, e.g. `ren_01j…`. */
export type IdSource = (prefix: IdPrefix) => string;

/** Bytes of randomness in an identifier. */
const RANDOM_BYTES = 10;

/** Identifiers from the clock and the operating system's randomness; sortable by creation time. */
export function createIdSource(clock: Clock = systemClock): IdSource {
  return (prefix) => newId(prefix, clock.now(), randomBytes(RANDOM_BYTES));
}
