import type { Asset, RecordResource } from '@lipsync/contract';
import { type ApiClient } from '@lipsync/local-stack';
import { eventually } from '@lipsync/testkit';

const TERMINAL = new Set(['completed', 'failed', 'cancelled']);

/**
 * Polls until the render is terminal; checks that its progress never falls and that every response conforms to the
 * contract.
 */
export async function awaitRender(api: ApiClient, id: string, deadlineMs = 120_000): Promise<RecordResource> {
  const progress: number[] = [];
  const ended = await eventually(
    async () => {
      const record = await api.getRender(id);
      progress.push(record.progress_percent);
      expect(TERMINAL).toContain(record.status);
      return record;
    },
    { deadlineMs },
  );
  // Not checked while polling, because a failure there would only be retried.
  expect(progress).toEqual([...progress].sort((a, b) => a - b));
  return ended;
}

export function awaitPreparation(api: ApiClient, id: string): Promise<RecordResource> {
  return eventually(
    async () => {
      const record = await api.getPreparation(id);
      expect(TERMINAL).toContain(record.status);
      return record;
    },
    { deadlineMs: 120_000 },
  );
}

export function awaitAsset(api: ApiClient, id: string): Promise<Asset> {
  return eventually(
    async () => {
      const asset = await api.getAsset(id);
      expect(['ready', 'failed']).toContain(asset.status);
      return asset;
    },
    { deadlineMs: 60_000 },
  );
}
