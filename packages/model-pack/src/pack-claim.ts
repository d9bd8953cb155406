import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { type PackEngine, PACK_ENGINES } from './manifest';
import { MANIFEST_FILE } from './open-pack';

/** What a folder says it holds, also where the rest of its pack.json is of no use. */
export interface PackClaim {
  readonly engine?: PackEngine | undefined;
  readonly name?: string | undefined;
}

const claimSchema = z.object({
  engine: z.enum(PACK_ENGINES).optional().catch(undefined),
  name: z.string().optional().catch(undefined),
});

/** Null when there is no pack.json, so no pack; empty when there is one that tells nothing. */
export async function readClaim(dir: string): Promise<PackClaim | null> {
  try {
    const claim = claimSchema.safeParse(JSON.parse(await readFile(join(dir, MANIFEST_FILE), 'utf8')));
    return claim.success ? claim.data : {};
  } catch (error) {
    return isAbsent(error) ? null : {};
  }
}

function isAbsent(error: unknown): boolean {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return code === 'ENOENT' || code === 'ENOTDIR';
}
