import type { Asset, RecordResource } from '@lipsync/contract';
import { eventually } from '@lipsync/testkit';
import type { ApiClient } from '../demo/api-client';

const TERMINAL = new Set(['completed', 'failed', 'cancelled']);

/** Polls until the render is terminal, checking on the way that progress never falls and every answer is as promised. */
export async function awaitRender(api: ApiClient, id: string, deadlineMs = 120_000): Promise<RecordResource> {
  let progress = 0;
  return eventually(
    async () => {
      const record = await api.getRender(id);
      expect(record.progress_percent).toBeGreaterThanOrEqual(progress);
      progress = record.progress_percent;
      expect(TERMINAL).toContain(record.status);
      return record;
    },
    { deadlineMs },
  );
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
