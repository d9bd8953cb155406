// Generates the client from schema.prisma. Only `generate` may see the variable below: Prisma's command line insists on
// a native schema engine that `generate` never calls, and with an inert one the migrate commands would "succeed" and do
// nothing. Migrations are applied by migrate.ts.
import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const cli = createRequire(import.meta.url).resolve('prisma/build/index.js');
const { status, stdout, stderr, error } = spawnSync(
  process.execPath,
  [cli, 'generate', '--config', join(root, 'prisma.config.ts')],
  {
    cwd: root,
    // Any executable file satisfies the check, and this very interpreter is one that exists everywhere.
    env: {
      ...process.env,
      PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
      PRISMA_HIDE_UPDATE_MESSAGE: '1',
      CHECKPOINT_DISABLE: '1',
    },
    encoding: 'utf8',
  },
);
if (error) throw error;
if (status !== 0) {
  process.stderr.write(stdout + stderr);
  process.exit(status ?? 1);
}
