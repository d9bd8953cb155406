import { type Input, type MediaType } from '@lipsync/contract';
import { type AssetRow } from '@lipsync/domain';
import { type Db, type Tx } from '../postgres/db';
import { insertUrlAsset, referAsset } from './assets';

/** The asset that an input refers to; null if the input is a URL. Throws what `referAsset` throws. */
export async function referInput(
  tx: Tx,
  input: Input,
  reference: { customerId: string; mediaType: MediaType },
): Promise<AssetRow | null> {
  return 'asset_id' in input ? referAsset(tx, { ...reference, assetId: input.asset_id }) : null;
}

/** The asset of an input: the one it refers to, or an implicit one that is fetched from its URL. */
export async function inputAsset(
  db: Db,
  tx: Tx,
  input: Input,
  asset: {
    customerId: string;
    mediaType: MediaType;
    ttlSeconds: number;
    traceParent?: string | undefined;
    now: Date;
    referred: AssetRow | null;
  },
): Promise<AssetRow> {
  const { referred, now, ...rest } = asset;
  if (referred) return referred;
  if (!('url' in input)) throw new Error('an input names neither an asset nor a URL');
  return insertUrlAsset(db, tx, { ...rest, url: input.url }, now);
}
