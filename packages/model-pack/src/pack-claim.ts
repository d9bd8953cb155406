import { z } from 'zod';
import { PACK_ENGINES, type PackEngine } from './manifest';

/** What a folder claims to contain, even if the rest of its pack.json is unusable. */
export interface PackClaim {
  readonly engine?: PackEngine | undefined;
  readonly name?: string | undefined;
}

const claimSchema = z.object({
  engine: z.enum(PACK_ENGINES).optional().catch(undefined),
  name: z.string().optional().catch(undefined),
});

/** What the content of a pack.json claims; nothing if it is not an object. */
export function claimIn(json: unknown): PackClaim {
  const claim = claimSchema.safeParse(json);
  return claim.success ? claim.data : {};
}
