// fetch-nupkg.mjs PACKAGE VERSION FILE [SHA512]: downloads a NuGet package and verifies it against the hash given (base64), else
// against the one that the gallery publishes for it; says the hash, so that it can be pinned.
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

const NUGET = 'https://api.nuget.org/v3';
const [, , name, version, file, pinned] = process.argv;

async function get(url) {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  return response;
}

async function publishedHash() {
  const registration = await (await get(`${NUGET}/registration5-gz-semver2/${name}/${version}.json`)).json();
  const { packageHash, packageHashAlgorithm } = await (await get(registration.catalogEntry)).json();
  if (packageHashAlgorithm !== 'SHA512') throw new Error(`the hash is ${packageHashAlgorithm}`);
  return packageHash;
}

const expected = pinned || (await publishedHash());
const hash = createHash('sha512');
const { body } = await get(`${NUGET}-flatcontainer/${name}/${version}/${name}.${version}.nupkg`);
await pipeline(
  Readable.fromWeb(body),
  async function* digest(chunks) {
    for await (const chunk of chunks) {
      hash.update(chunk);
      yield chunk;
    }
  },
  createWriteStream(file),
);
const actual = hash.digest('base64');
if (actual !== expected) {
  await rm(file);
  throw new Error(`${name} ${version} has the SHA-512 ${actual}, not ${expected}`);
}
console.log(
  `${name} ${version}: SHA-512 ${actual} (${pinned ? 'pinned' : 'as published; pin it to be independent of that'})`,
);
