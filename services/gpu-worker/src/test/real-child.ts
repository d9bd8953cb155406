import { join } from 'node:path';
import { readPack } from '@lipsync/engines';
import { type TaskPack } from '../protocol/messages';

/** The compiled inference child: a process cannot be forked from sources. */
export const COMPILED_CHILD = join(__dirname, '../../dist/inference/main.js');

/** The pack that is in a folder now, as tasks name it. */
export async function packAt(dir: string): Promise<TaskPack> {
  const { digest } = await readPack(dir);
  return { dir, digest };
}
