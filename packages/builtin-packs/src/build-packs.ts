import { resolve } from 'node:path';
import { packVersion } from '@lipsync/model-pack';
import { buildBuiltinPacks } from './builtin-packs';

/** Where the repository keeps its own build outputs, relative to the compiled file in packages/builtin-packs/dist. */
const DEFAULT_DIR = resolve(__dirname, '../../../.local/packs');

/** Called as `node dist/build-packs.js [outDir]`, as part of the build. */
async function main(outDir = DEFAULT_DIR): Promise<void> {
  for (const pack of await buildBuiltinPacks(outDir)) {
    process.stdout.write(`${packVersion(pack)} in ${pack.dir}\n`);
  }
}

main(process.argv[2]).catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exitCode = 1;
});
