import { type CORSRule, GetBucketCorsCommand, PutBucketCorsCommand } from '@aws-sdk/client-s3';
import { type Bucket } from './s3-client';
import { mapErrors } from './storage-error';

/** `kept`: the bucket's other rules, which stay as they are. */
export interface BrowserAccess {
  readonly change: 'added' | 'replaced' | 'none';
  readonly kept: number;
}

const RULE_ID = 'lipsync-browsers';
const PREFLIGHT_SECONDS = 3_600;

/** What a page needs to upload by a signed PUT, to download in parts, and to see which part it got of what. */
const browserRule = (origins: readonly string[]): CORSRule => ({
  ID: RULE_ID,
  AllowedOrigins: [...origins],
  AllowedMethods: ['GET', 'HEAD', 'PUT'],
  AllowedHeaders: ['content-type', 'if-match', 'if-range', 'range'],
  ExposeHeaders: ['Accept-Ranges', 'Content-Length', 'Content-Range', 'ETag'],
  MaxAgeSeconds: PREFLIGHT_SECONDS,
});

/**
 * Lets pages of these origins use signed URLs: sets one rule of the bucket and keeps the others. Stores obey the
 * first rule that names the origin and the method, so this one comes first.
 */
export async function allowBrowsers(
  { client, bucket }: Bucket,
  origins: readonly string[],
): Promise<BrowserAccess> {
  return mapErrors('set CORS rule', undefined, async () => {
    const rules = await corsRules({ client, bucket });
    const others = rules.filter(({ ID }) => ID !== RULE_ID);
    const [first] = rules;
    const rule = browserRule(origins);
    const kept = others.length;
    if (first !== undefined && sameRule(first, rule) && rules.length === kept + 1)
      return { change: 'none', kept };
    const configuration = { CORSRules: [rule, ...others] };
    await client.send(new PutBucketCorsCommand({ Bucket: bucket, CORSConfiguration: configuration }));
    return { change: kept < rules.length ? 'replaced' : 'added', kept };
  });
}

async function corsRules({ client, bucket }: Bucket): Promise<CORSRule[]> {
  try {
    return (await client.send(new GetBucketCorsCommand({ Bucket: bucket }))).CORSRules ?? [];
  } catch (error) {
    if (error instanceof Error && error.name === 'NoSuchCORSConfiguration') return [];
    throw error;
  }
}

/** Stores return the parts of a rule in an order of their own, and header names as they like to write them. */
function sameRule(one: CORSRule, other: CORSRule): boolean {
  const parts = ({
    ID,
    AllowedOrigins,
    AllowedMethods,
    AllowedHeaders,
    ExposeHeaders,
    MaxAgeSeconds,
  }: CORSRule) =>
    JSON.stringify([
      ID,
      MaxAgeSeconds,
      ...[AllowedOrigins, AllowedMethods, AllowedHeaders, ExposeHeaders].map((names = []) =>
        names.map((name) => name.toLowerCase()).sort(),
      ),
    ]);
  return parts(one) === parts(other);
}
