import { type ErrorCode } from '@lipsync/contract';
import { errorMessage, ServiceError } from '@lipsync/domain';
import { recordLimitReached } from '../customers/customer-limits';
import { type Db } from '../postgres/db';
import { run } from '../postgres/statement';
import { liveEngines } from '../queue/workers';
import { type RenderDraft } from './render-draft';

const REFER_ASSET = {
  name: 'refer_asset',
  text: 'SELECT refusal FROM refer_asset($1, $2, $3)',
};

/**
 * The error of a refused render, which says what it is about where the request refers to several things of that kind,
 * or which limit was reached. This is looked up afterwards, so that accepted renders do not pay for it.
 */
export async function refusedRender(db: Db, draft: RenderDraft, code: ErrorCode): Promise<ServiceError> {
  if (code === 'concurrency_limit_exceeded') return recordLimitReached(db.prisma, draft.input.customerId);
  const about = await subjectOf(db, draft, code);
  return new ServiceError(code, about === '' ? {} : { detail: errorMessage(code, about) });
}

async function subjectOf(db: Db, { input, video }: RenderDraft, code: ErrorCode): Promise<string> {
  const { customerId, request, enginesOnDemand = [] } = input;
  if (code === 'engine_unavailable') {
    const live = await liveEngines(db);
    return request.engines.filter((name) => !live.has(name) && !enginesOnDemand.includes(name)).join(', ');
  }
  if (!code.startsWith('asset_')) return '';
  if (!('asset_id' in request.video)) return '/audio/asset_id';
  if (!('asset_id' in request.audio)) return '/video/asset_id';
  // The video is checked first.
  const [asset] = await run<{ refusal: ErrorCode | null }>(db, REFER_ASSET, [customerId, video.id, 'video']);
  return asset?.refusal === code ? '/video/asset_id' : '/audio/asset_id';
}
