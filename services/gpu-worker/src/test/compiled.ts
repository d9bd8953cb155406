import { join } from 'node:path';

/** The inference child as it is built: a process cannot be forked from sources. */
export const COMPILED_CHILD = join(__dirname, '../../dist/inference/main.js');
