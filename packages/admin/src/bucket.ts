import { type Storage, StorageError } from '@lipsync/storage';
import { type Command, InvalidArgumentError } from 'commander';
import { whatBrowsersLack } from './browsers';
import { checkBucket } from './check-bucket';
import { print, type Row } from './command-line';
import type { Connection } from './connect';

interface BrowserOptions {
  origin?: string[];
  json?: boolean;
}

export function addBucketCommands(program: Command, connection: Connection): void {
  const bucket = program.command('bucket').description('the bucket that S3_BUCKET names');

  bucket
    .command('create')
    .description('create it if it does not exist; for stores that nobody else manages')
    .option('--cors', 'also do what `bucket cors` does')
    .option('--json')
    .action(({ cors = false, json }: { cors?: boolean; json?: boolean }) =>
      connection.withStorage(async (storage) => {
        const created = await storage.createBucket();
        print({ created, ...(cors && (await letIn(storage, [connection.publicOrigin()]))) }, { json });
      }),
    );

  bucket
    .command('cors')
    .description(
      'allow pages of PUBLIC_BASE_URL, such as the studio, to upload and download: sets one CORS rule and keeps the others',
    )
    .option('--origin <url...>', 'also allow pages of these origins', origin)
    .option('--json')
    .action(({ origin = [], json }: BrowserOptions) =>
      connection.withStorage(async (storage) =>
        print(await letIn(storage, [connection.publicOrigin(), ...origin]), { json }),
      ),
    );

  bucket
    .command('check')
    .description(
      'test what the service and browsers need from it, and what the holder of a signed upload URL must not be able to do; exits with 1 if something is broken or unsafe',
    )
    .option(
      '--endpoint <url>',
      'test signed URLs at this endpoint, where callers reach the store (default: S3_ENDPOINT)',
      httpUrl,
    )
    .option('--json')
    .action(({ endpoint, json }: { endpoint?: string; json?: boolean }) =>
      connection.withStorage(async (storage, name) => {
        const findings = await checkBucket(storage, { bucket: name, origin: connection.publicOrigin() });
        if (findings.some(({ verdict }) => verdict === 'broken' || verdict === 'unsafe'))
          process.exitCode = 1;
        print(
          findings.map(({ verdict, check, finding }) => ({ verdict, check, finding })),
          { json },
        );
      }, endpoint),
    );
}

const CHANGES = {
  added: 'the rule was added',
  replaced: 'the former rule was replaced',
  none: 'none: the rule already existed',
} as const;

/** What `bucket cors` did, as a row. Throws a sentence that says what to do if the store has no rules or refuses. */
async function letIn(storage: Storage, origins: readonly string[]): Promise<Row> {
  const pages = origins.join(' ');
  try {
    const { change, kept } = await storage.allowBrowsers(origins);
    return { pages, change: CHANGES[change], other_rules_kept: kept };
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    if (error.kind === 'rejected')
      throw new Error(
        `the store refuses: ${error.message}. Run this with the credentials of the bucket's owner, or others that allow s3:GetBucketCORS and s3:PutBucketCORS`,
        { cause: error },
      );
    if (error.kind !== 'not_offered') throw error;
    for (const each of origins)
      if ((await whatBrowsersLack(storage, each)).length > 0)
        throw new Error(
          `this store has no CORS rules for buckets, and does not allow pages of ${each}. Allow them in the configuration of the store itself, then run bucket check`,
          { cause: error },
        );
    return { pages, change: 'none: the store has no such rules, and already allows these pages' };
  }
}

function httpUrl(value: string): string {
  if (!URL.canParse(value) || !/^https?:/.test(value))
    throw new InvalidArgumentError('Expected an http or https URL.');
  return value;
}

/** Collects the values of an option that may be repeated. */
function origin(value: string, before: string[] = []): string[] {
  return [...before, new URL(httpUrl(value)).origin];
}
