// cuda-provider.mjs RUNTIME [TARGET]: adds ONNX Runtime's CUDA execution provider, which is too large for the npm package,
// to an onnxruntime-node: the one of exactly the version in the folder RUNTIME. TARGET is where that folder will be used,
// if it is elsewhere. Does nothing if the provider is there.
//
// The package comes from the NuGet server $NUGET (its URL without /index.json) and is verified against
// $ONNXRUNTIME_CUDA_SHA512 (base64), or else against the hash that the server publishes for it. Prints the hash, so that
// it can be pinned. With CUDA_PROVIDER=npm it comes from the npm registry $NPM_REGISTRY instead, in the one version that
// somebody has put there.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createWriteStream, existsSync, readFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

const [, , runtime, target = runtime] = process.argv;
const pinned = process.env.ONNXRUNTIME_CUDA_SHA512;
const { version } = JSON.parse(readFileSync(join(runtime, 'package.json'), 'utf8'));
// Where the binding looks for it: in its own folder. The provider itself comes last: if it is there, all are.
const folder = join(target, 'bin', 'napi-v6', 'linux', 'x64');
const libraries = ['libonnxruntime_providers_shared.so', 'libonnxruntime_providers_cuda.so'];

/** ONNX Runtime's own package. */
const nuget = {
  name: 'microsoft.ml.onnxruntime.gpu.linux',
  version,
  async offer() {
    const address = await addressesOfServer();
    const expected = pinned || (await publishedHash(address));
    const { name } = nuget;
    return {
      url: `${address('PackageBaseAddress/3.0.0')}${name}/${version}/${name}.${version}.nupkg`,
      expected,
      trust: pinned ? 'pinned' : 'as published; pin it to be independent of that',
    };
  },
  async unpack(file, staging) {
    // A dependency of onnxruntime-node, for the same purpose in its own installation script.
    const AdmZip = createRequire(join(runtime, 'package.json'))('adm-zip');
    const archive = new AdmZip(file);
    for (const library of libraries) {
      // Written by us, because the file modes in such packages may be empty.
      const bytes = archive.readFile(`runtimes/linux-x64/native/${library}`);
      if (bytes === null) throw new Error(`${nuget.name} ${version} has no ${library}`);
      await writeFile(join(staging, library), bytes);
    }
  },
};

/** Microsoft's build of it (CUDA 13, cuDNN 9), as a game engine's plugin carries it. */
const npm = {
  name: 'com.github.asus4.onnxruntime.linux-x64-gpu',
  version: '0.4.9',
  async offer() {
    const fitting = '1.29.0';
    if (version !== fitting)
      throw new Error(
        `${npm.name} ${npm.version} holds the provider of ONNX Runtime ${fitting}, and onnxruntime-node ${version} is ` +
          `installed: add "onnxruntime-node: ${fitting}" to overrides in pnpm-workspace.yaml, then run npx pnpm install ` +
          '--lockfile-only and npm run bootstrap',
      );
    const registry = (process.env.NPM_REGISTRY || 'https://registry.npmjs.org').replace(/\/$/, '');
    return {
      url: `${registry}/${npm.name}/-/${npm.name}-${npm.version}.tgz`,
      // As the registry publishes it.
      expected:
        pinned || 'FopIhNE/Ng+v2X65wVc9clPCBCvhvA53Hxo2U0Kf5fGdVsC7iCA+mZ0KLWggcQAj7TIZ6pNidR4AC10g74Xo6w==',
      trust: 'pinned',
    };
  },
  async unpack(file, staging) {
    const members = libraries.map((library) => `package/Plugins/Linux/x64/${library}`);
    execFileSync('tar', ['-xzf', file, '-C', staging, '--no-same-owner', '--strip-components=4', ...members]);
  },
};

async function get(url) {
  const response = await fetch(url).catch(({ cause, message }) => {
    throw new Error(`${url} cannot be asked: ${cause?.code ?? cause?.message ?? message}`);
  });
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  return response;
}

const server = process.env.NUGET || 'https://api.nuget.org/v3';

async function getJson(url) {
  const response = await get(url);
  return response.json().catch(() => {
    throw new Error(`${url} did not answer JSON`);
  });
}

/** Every server lists its own endpoints; those of a mirror differ from the gallery's. */
async function addressesOfServer() {
  const { resources = [] } = await getJson(`${server}/index.json`);
  return (...types) => {
    const found = types.flatMap((type) => resources.filter((resource) => resource['@type'] === type));
    if (found.length === 0) throw new Error(`${server} has no ${types.join(' or ')}`);
    return found[0]['@id'].replace(/\/?$/, '/');
  };
}

/** The gallery publishes the hash in its catalog, which the registration links to. Mirrors may not. */
async function publishedHash(address) {
  try {
    const registrations = address('RegistrationsBaseUrl/3.6.0', 'RegistrationsBaseUrl');
    const { catalogEntry } = await getJson(`${registrations}${nuget.name}/${version}.json`);
    const entry = typeof catalogEntry === 'string' ? await getJson(catalogEntry) : catalogEntry;
    if (entry?.packageHashAlgorithm === 'SHA512') return entry.packageHash;
    throw new Error(`${server} publishes no SHA-512 of ${nuget.name} ${version}`);
  } catch (error) {
    throw new Error(`${error.message}: the hash that the package must have has to be pinned`, {
      cause: error,
    });
  }
}

/** Downloads to a file; returns its hash. */
async function download(url, file) {
  const hash = createHash('sha512');
  const { body } = await get(url);
  await pipeline(
    Readable.fromWeb(body),
    async function* digest(chunks) {
      for await (const chunk of chunks) {
        hash.update(chunk);
        yield chunk;
      }
    },
    createWriteStream(file),
  ).catch(({ message }) => {
    throw new Error(`${url} was not read to its end: ${message}`);
  });
  return hash.digest('base64');
}

async function install(source, staging) {
  const { url, expected, trust } = await source.offer();
  const file = join(staging, 'package');
  const actual = await download(url, file);
  const what = `${source.name} ${source.version}`;
  if (actual !== expected) throw new Error(`${what} has the SHA-512 ${actual}, not ${expected}`);
  console.log(`${what}: SHA-512 ${actual} (${trust})`);
  await source.unpack(file, staging);
  for (const library of libraries) await rename(join(staging, library), join(folder, library));
}

if (existsSync(join(folder, libraries.at(-1)))) {
  console.log(`the CUDA provider of onnxruntime-node ${version} is there`);
} else {
  const staging = join(folder, 'staging');
  try {
    // That of a call that was killed.
    await rm(staging, { recursive: true, force: true });
    await mkdir(staging, { recursive: true });
    await install(process.env.CUDA_PROVIDER === 'npm' ? npm : nuget, staging);
  } catch ({ message }) {
    console.error(message);
    process.exitCode = 1;
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}
