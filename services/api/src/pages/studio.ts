import { readdirSync, readFileSync } from 'node:fs';
import { dirname, extname, join, relative, sep } from 'node:path';
import { type RequestHandler } from 'express';
import { type ApiDeps } from '../api-deps';
import { sendJson } from '../http/answer';
import { type Authenticate } from '../http/authenticate';
import { limitRate } from '../http/rate-limit';
import { serveFiles, type StaticFile, staticFile } from './static-file';

/** The folder of the built page. */
export function studioFolder(): string {
  return join(dirname(require.resolve('@lipsync/studio/package.json')), 'dist');
}

/**
 * GET /studio and the files that the page loads, all served from memory. It may talk to this service and, for signed
 * addresses, to the store; it shows pictures and sounds that it has made itself (blob:), and may use the microphone.
 */
export function studio(folder: string, storeOrigin: string): RequestHandler {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    `media-src 'self' blob: ${storeOrigin}`,
    `connect-src 'self' ${storeOrigin}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
  const files = loadStudio(folder);
  const page = serveFiles(files, {
    'Content-Security-Policy': policy,
    'Permissions-Policy': 'microphone=(self), camera=(), geolocation=()',
  });
  const asset = serveFiles(files, { 'Content-Security-Policy': WORKER_POLICY });
  return (req, res, next) =>
    (res.locals.context.path.startsWith(`/studio/${HASHED}`) ? asset : page)(req, res, next);
}

/**
 * A worker has the policy of its own file; to whatever else the page loads, none applies. The one that checks content
 * credentials runs WebAssembly of this origin, which the page itself may not.
 */
const WORKER_POLICY =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'; frame-ancestors 'none'";

/** GET /studio/key: `{}` if the service accepts the key of the request; otherwise the error of any operation. */
export function acceptedKey(deps: ApiDeps, authenticate: Authenticate): RequestHandler {
  return async (req, res) => {
    const customer = await authenticate(req);
    Object.assign(res.locals.context.fields, { customer_id: customer.id, api_key_id: customer.apiKeyId });
    sendJson(res, 200, {}, await limitRate(deps, customer, 'GET'));
  };
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
  '.mp4': 'video/mp4',
  '.wav': 'audio/wav',
  '.wasm': 'application/wasm',
};

/** The build names what it puts there after its content, so a name never means other bytes. */
const HASHED = 'assets/';
const FOREVER = 'public, max-age=31536000, immutable';

/** Every file, keyed by its path under /studio. No part of a request ever becomes a file name. */
function loadStudio(folder: string): ReadonlyMap<string, StaticFile> {
  const files = new Map<string, StaticFile>();
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    const name = relative(folder, file).replaceAll(sep, '/');
    const contentType = TYPES[extname(name)];
    if (contentType === undefined) throw new Error(`The studio holds a file of an unknown type: ${name}`);
    const cacheControl = name.startsWith(HASHED) ? FOREVER : undefined;
    const path = name === 'index.html' ? '/studio' : `/studio/${name}`;
    files.set(path, staticFile(contentType, readFileSync(file), cacheControl));
  }
  if (!files.has('/studio')) throw new Error(`There is no page in ${folder}: the studio is not built`);
  return files;
}
