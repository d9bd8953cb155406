import { type RenderRecord } from '@lipsync/client';
import { type RecentRender } from './recent-work';

/** What this browser keeps of the state of a render, so that the list of renders need not ask again once it has ended. */
export type RenderState = Pick<RecentRender, 'status' | 'percent' | 'tookSeconds' | 'outputSeconds'>;

export function stateOf(record: RenderRecord): RenderState {
  const { status, progress_percent: percent, created_at: from, completed_at: to } = record;
  const outputSeconds = record.engines.find(({ usage }) => usage.output_seconds !== undefined)?.usage
    .output_seconds;
  return {
    status,
    percent: Math.floor(percent),
    // By one clock, the service's.
    ...(status === 'completed' &&
      to !== undefined && { tookSeconds: (Date.parse(to) - Date.parse(from)) / 1000 }),
    ...(outputSeconds !== undefined && { outputSeconds }),
  };
}

/** Whether the state may still change, or is not known yet. */
export function isOpen({ status }: Pick<RecentRender, 'status'>): boolean {
  return status === undefined || status === 'accepted' || status === 'processing';
}
