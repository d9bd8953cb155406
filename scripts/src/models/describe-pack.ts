import { type Row } from '@lipsync/admin';
import { type Pack } from '@lipsync/engines';
import { packSize } from '@lipsync/model-pack';

/** What an operator wants to know about a pack. */
export async function describePack(pack: Pack): Promise<Row> {
  const { engine, name, version, licence, providers } = pack.manifest;
  return {
    engine,
    name,
    version,
    licence: licence.spdx,
    providers: providers.join(','),
    digest: pack.digest.slice(0, 12),
    megabytes: Number(((await packSize(pack)) / 1e6).toFixed(1)),
  };
}
