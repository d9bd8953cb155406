// fetch-nupkg.mjs SERVER PACKAGE VERSION FILE [SHA512]: downloads a package from a NuGet server (its URL without
// /index.json) and verifies it against the given hash (base64), or else against the one that the server publishes for
// it. Prints the hash, so that it can be pinned.
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

const [, , server, name, version, file, pinned] = process.argv;

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

/** Downloads the file; returns its hash. */
async function download(url) {
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

try {
  const address = await addressesOfServer();
  const expected = pinned || (await publishedHash(address));
  const packages = address('PackageBaseAddress/3.0.0');
  const actual = await download(`${packages}${name}/${version}/${name}.${version}.nupkg`);
  if (actual !== expected) throw new Error(`${name} ${version} has the SHA-512 ${actual}, not ${expected}`);
  console.log(
    `${name} ${version}: SHA-512 ${actual} (${pinned ? 'pinned' : 'as published; pin it to be independent of that'})`,
  );
} catch ({ message }) {
  await rm(file, { force: true });
  console.error(message);
  process.exitCode = 1;
}
