import { getRender as findRender } from '@lipsync/db';
import { type ApiDeps } from '../api-deps';
import { type Handler } from './operation';
import { pollHint } from './poll-hint';
import { viewRender } from './view-render';

/** GET /v1/renders/{id} */
export function getRender(deps: ApiDeps): Handler {
  return async ({ customer, id }) => {
    const found = await findRender(deps.db, customer.id, id);
    return {
      body: await viewRender(deps, found),
      headers: pollHint(found.render.completedAt === null),
      resourceId: found.render.id,
    };
  };
}
