import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { ServiceError } from '@lipsync/domain';
import { type RequestHandler } from 'express';
import { postmanCollection } from './postman-collection';
import { serveFiles, type StaticFile, staticFile } from './static-file';

const TYPES: Readonly<Record<string, string>> = {
  '.json': 'application/json',
  '.tgz': 'application/gzip',
  '.whl': 'application/zip',
};

/** A name that holds a version is never given to other bytes: callers' lockfiles hold their hash. */
const FOREVER = 'public, max-age=31536000, immutable';
const VERSION = /-(\d+\.\d+\.\d+)(?=[.-])/;
const withoutVersion = (name: string): string => name.replace(VERSION, '');

/**
 * GET /downloads: what callers install, as files that fit this version of the service, so that they need no registry.
 * The folder itself answers an index; a name without its version leads to the file of the current one; `NAME.sha256` is
 * what `sha256sum --check` reads beside a file that was saved as NAME, with its version or without.
 * @param publicBaseUrl the base of the addresses in the index and in the collection for Postman
 */
export function downloads(publicBaseUrl: string): RequestHandler {
  const files = new Map([
    ...loadDownloads(),
    [
      'lipsync.postman_collection.json',
      Buffer.from(JSON.stringify(postmanCollection(publicBaseUrl), null, 2)),
    ],
  ]);
  const current = new Map([...files.keys()].map((name) => [withoutVersion(name), name]));
  const serve = serveFiles(
    new Map([
      ['/downloads', staticFile(TYPES['.json'] ?? '', indexOf(files, publicBaseUrl))],
      ...[...files].flatMap(([name, bytes]): [string, StaticFile][] => [
        [`/downloads/${name}`, staticFile(typeOf(name), bytes, VERSION.test(name) ? FOREVER : undefined)],
        ...[name, withoutVersion(name)].map((saved): [string, StaticFile] => [
          `/downloads/${saved}.sha256`,
          staticFile('text/plain; charset=utf-8', checksum(saved, bytes)),
        ]),
      ]),
    ]),
  );
  return (req, res, next) => {
    const name = res.locals.context.path.replace('/downloads/', '');
    const offered = current.get(withoutVersion(name));
    if (offered === undefined || offered === name) return serve(req, res, next);
    if (name !== withoutVersion(name))
      throw new ServiceError('not_found', { detail: `This version of the service has ${offered}.` });
    res.statusCode = 302;
    res.setHeader('Cache-Control', 'no-cache');
    res.setHeader('Location', offered);
    res.end();
  };
}

/** Every file that the build of @lipsync/downloads wrote, by its name. */
function loadDownloads(): ReadonlyMap<string, Buffer> {
  const folder = join(dirname(require.resolve('@lipsync/downloads/package.json')), 'dist');
  return new Map(
    readdirSync(folder)
      .sort()
      .map((name) => [name, readFileSync(join(folder, name))]),
  );
}

function typeOf(name: string): string {
  const type = TYPES[extname(name)];
  if (type === undefined) throw new Error(`A download is of an unknown type: ${name}`);
  return type;
}

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
const checksum = (name: string, bytes: Buffer): Buffer => Buffer.from(`${sha256(bytes)}  ${name}\n`);

function indexOf(files: ReadonlyMap<string, Buffer>, publicBaseUrl: string): Buffer {
  const addressOf = (name: string): string => `${publicBaseUrl}/downloads/${name}`;
  const listed = [...files].map(([name, bytes]) => ({
    name,
    version: VERSION.exec(name)?.[1],
    size_bytes: bytes.length,
    sha256: sha256(bytes),
    url: addressOf(name),
    // pip refuses a wheel whose name has no version.
    current_url: extname(name) === '.whl' ? undefined : addressOf(withoutVersion(name)),
  }));
  return Buffer.from(`${JSON.stringify({ files: listed }, null, 2)}\n`);
}
