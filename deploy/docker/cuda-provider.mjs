// cuda-provider.mjs RUNTIME [TARGET]: adds ONNX Runtime's CUDA execution provider, which is too large for the npm package,
// to an onnxruntime-node: the one of exactly the version in the folder RUNTIME. TARGET is where that folder will be used,
// if it is elsewhere. Does nothing if the provider is there.
//
// The package comes from the NuGet server $NUGET (its URL without /index.json) and is verified against
// $ONNXRUNTIME_CUDA_SHA512 (base64), or else against the hash that the server publishes for it. Prints the hash, so that
// it can be pinned.
import { createHash } from 'node:crypto';
import { createWriteStream, existsSync, readFileSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

const [, , runtime, target = runtime] = process.argv;
const server = process.env.NUGET || 'https://api.nuget.org/v3';
const pinned = process.env.ONNXRUNTIME_CUDA_SHA512;
const name = 'microsoft.ml.onnxruntime.gpu.linux';
const { version } = JSON.parse(readFileSync(join(runtime, 'package.json'), 'utf8'));
// Where the binding looks for it: in its own folder. The provider itself comes last: if it is there, all are.
const folder = join(target, 'bin', 'napi-v6', 'linux', 'x64');
const libraries = ['libonnxruntime_providers_shared.so', 'libonnxruntime_providers_cuda.so'];

async function get(url) {
  const response = await fetch(url).catch(({ cause, message }) => {
    throw new Error(`${url} cannot be asked: ${cause?.code ?? cause?.message ?? message}`);
  });
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  return response;
}

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
    const { catalogEntry } = await getJson(`${registrations}${name}/${version}.json`);
    const entry = typeof catalogEntry === 'string' ? await getJson(catalogEntry) : catalogEntry;
    if (entry?.packageHashAlgorithm === 'SHA512') return entry.packageHash;
    throw new Error(`${server} publishes no SHA-512 of ${name} ${version}`);
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

async function install(staging) {
  const address = await addressesOfServer();
  const expected = pinned || (await publishedHash(address));
  const packages = address('PackageBaseAddress/3.0.0');
  const file = join(staging, 'provider.nupkg');
  const actual = await download(`${packages}${name}/${version}/${name}.${version}.nupkg`, file);
  if (actual !== expected) throw new Error(`${name} ${version} has the SHA-512 ${actual}, not ${expected}`);
  console.log(
    `${name} ${version}: SHA-512 ${actual} (${pinned ? 'pinned' : 'as published; pin it to be independent of that'})`,
  );
  // A dependency of onnxruntime-node, for the same purpose in its own installation script.
  const AdmZip = createRequire(join(runtime, 'package.json'))('adm-zip');
  const archive = new AdmZip(file);
  for (const library of libraries) {
    // Written by us, because the file modes in such packages may be empty.
    const bytes = archive.readFile(`runtimes/linux-x64/native/${library}`);
    if (bytes === null) throw new Error(`${name} ${version} has no ${library}`);
    await writeFile(join(staging, `${library}.part`), bytes);
  }
  for (const library of libraries) await rename(join(staging, `${library}.part`), join(folder, library));
}

if (existsSync(join(folder, libraries.at(-1)))) {
  console.log(`${name} ${version} is there`);
} else {
  const staging = join(folder, 'staging');
  try {
    // That of a call that was killed.
    await rm(staging, { recursive: true, force: true });
    await mkdir(staging, { recursive: true });
    await install(staging);
  } catch ({ message }) {
    console.error(message);
    process.exitCode = 1;
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}
