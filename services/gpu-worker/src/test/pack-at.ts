import { readPack } from '@lipsync/engines';
import { type TaskPack } from '../protocol/messages';

/** The pack that is in a folder now, as tasks name it. */
export async function packAt(dir: string): Promise<TaskPack> {
  const { digest } = await readPack(dir);
  return { dir, digest };
}
