import { ServiceError } from '@lipsync/domain';
import {
  type CreatedRender,
  createRenders,
  type Db,
  getRenders,
  type NewRender,
  type RenderDetails,
} from '../src';

/** Creates one render in a batch of its own. */
export async function createRender(db: Db, input: NewRender): Promise<CreatedRender> {
  const [created] = await createRenders(db, [input]);
  if (created === undefined) throw new Error('nothing was created');
  return created;
}

/** Reads one render; throws the reason if it cannot be shown. */
export async function getRender(db: Db, customerId: string, renderId: string): Promise<RenderDetails> {
  const [found] = await getRenders(db, [{ customerId, renderId }]);
  if (found === undefined || found instanceof ServiceError) throw found ?? new Error('nothing was found');
  return found;
}
