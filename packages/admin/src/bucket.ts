import type { Command } from 'commander';
import type { Connection } from './connect';
import { print } from './print';

export function addBucketCommand(program: Command, connection: Connection): void {
  program
    .command('bucket')
    .description('the bucket that S3_BUCKET names')
    .command('create')
    .description('make it if it is not there; for stores whose buckets are nobody else’s business')
    .option('--json')
    .action((options: { json?: boolean }) =>
      connection.withStorage(async (storage) => print({ created: await storage.createBucket() }, options)),
    );
}
