import { join } from 'node:path';

/** The compiled inference child: a process cannot be forked from sources. */
export const COMPILED_CHILD = join(__dirname, '../../dist/inference/main.js');
