import { getRenders, type RenderDetails, type RenderName } from '@lipsync/db';
import { batchCalls } from '@lipsync/runtime';
import { type ApiDeps } from '../api-deps';
import { DATABASE_WAIT } from '../database-wait';
import { type Handler } from './operation';
import { pollHint } from './poll-hint';
import { viewRender } from './view-render';

const BATCHES = { max: 32, inFlight: 4, limit: DATABASE_WAIT };

/** GET /v1/renders/{id} */
export function getRender(deps: ApiDeps): Handler {
  const find = batchCalls<RenderName, RenderDetails>(BATCHES, (names) => getRenders(deps.db, names));
  return async ({ customer, id }) => {
    const found = await find({ customerId: customer.id, renderId: id });
    return {
      body: await viewRender(deps, found),
      headers: pollHint(found.render.completedAt === null),
      resourceId: found.render.id,
    };
  };
}
