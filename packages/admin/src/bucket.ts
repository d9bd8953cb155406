import { type Command, InvalidArgumentError } from 'commander';
import { checkBucket } from './check-bucket';
import { print } from './command-line';
import type { Connection } from './connect';

export function addBucketCommands(program: Command, connection: Connection): void {
  const bucket = program.command('bucket').description('the bucket that S3_BUCKET names');

  bucket
    .command('create')
    .description('make it if it is not there; for stores whose buckets are nobody else’s business')
    .option('--json')
    .action((options: { json?: boolean }) =>
      connection.withStorage(async (storage) => print({ created: await storage.createBucket() }, options)),
    );

  bucket
    .command('check')
    .description(
      'try what the service needs of it, and what holders of a signed upload must not be able to do; ends with 1 if something is broken or unsafe',
    )
    .option(
      '--endpoint <url>',
      'try signed addresses there, where callers reach the store; at S3_ENDPOINT when left out',
      httpUrl,
    )
    .option('--json')
    .action(({ endpoint, json }: { endpoint?: string; json?: boolean }) =>
      connection.withStorage(async (storage, name) => {
        const findings = await checkBucket(storage, name);
        if (findings.some(({ verdict }) => verdict === 'broken' || verdict === 'unsafe'))
          process.exitCode = 1;
        print(
          findings.map(({ verdict, check, finding }) => ({ verdict, check, finding })),
          { json },
        );
      }, endpoint),
    );
}

function httpUrl(value: string): string {
  if (!URL.canParse(value) || !/^https?:/.test(value))
    throw new InvalidArgumentError('an http or https address');
  return value;
}
