import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ERROR_CATALOGUE, type ErrorDefinition, type ErrorPlace } from '@lipsync/contract';
import { type RequestHandler } from 'express';
import { serveFiles, type StaticFile, staticFile } from './static-file';

/**
 * The page loads only what this service serves, runs no inline script, and cannot be framed. The API reference sets
 * style attributes through the DOM, which this policy does not restrict, and draws its icons from data: URLs.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** GET /docs and the files that the page loads, all served from memory. */
export function docs(publicBaseUrl: string): RequestHandler {
  return serveFiles(loadDocsFiles(publicBaseUrl), { 'Content-Security-Policy': POLICY });
}

/**
 * Every file under /docs, keyed by path. All are read once at start, so no part of a request ever becomes a file name.
 */
function loadDocsFiles(publicBaseUrl: string): ReadonlyMap<string, StaticFile> {
  const swaggerDir = dirname(require.resolve('swagger-ui-dist/package.json'));
  const swagger = (name: string): Buffer => readFileSync(join(swaggerDir, name));
  const css = 'text/css; charset=utf-8';
  const js = 'text/javascript; charset=utf-8';
  return new Map([
    ['/docs', staticFile('text/html; charset=utf-8', Buffer.from(renderDocsPage(publicBaseUrl)))],
    ['/docs/docs.css', staticFile(css, readPublicFile('docs.css'))],
    ['/docs/docs.js', staticFile(js, readPublicFile('docs.js'))],
    ['/docs/swagger-ui.css', staticFile(css, swagger('swagger-ui.css'))],
    ['/docs/swagger-ui-bundle.js', staticFile(js, swagger('swagger-ui-bundle.js'))],
    ['/docs/favicon-32x32.png', staticFile('image/png', swagger('favicon-32x32.png'))],
  ]);
}

/** A sibling of both src and dist, so the same relative path works from sources and from the build. */
const PUBLIC_DIR = join(__dirname, '..', '..', 'public');

const SAMPLES = ['verify-webhook.ts', 'verify-webhook.py', 'verify-webhook.go'] as const;

const PLACES: Readonly<Record<ErrorPlace, string>> = {
  request: 'answers',
  asset: 'assets',
  record: 'renders and preparations',
  engine: 'engine results',
};

/**
 * The documentation page: quickstart, the webhook verification samples read from their files, the errors of the
 * contract's catalogue, and the mount point of the API reference.
 */
export function renderDocsPage(publicBaseUrl: string): string {
  const values = new Map([
    ['base_url', escapeHtml(publicBaseUrl)],
    ['error_rows', Object.entries(ERROR_CATALOGUE).map(errorRow).join('\n')],
  ]);
  for (const sample of SAMPLES)
    values.set(sample, escapeHtml(readFileSync(join(PUBLIC_DIR, 'samples', sample), 'utf8').trimEnd()));
  const template = readFileSync(join(PUBLIC_DIR, 'docs.html'), 'utf8');
  return template.replaceAll(/\{\{([^}]+)\}\}/g, (_, name: string) => {
    const value = values.get(name);
    if (value === undefined) throw new Error(`The documentation page names an unknown value: ${name}`);
    return value;
  });
}

function errorRow([code, { httpStatus, retryable, where, message }]: [string, ErrorDefinition]): string {
  const places = where.map((place) => PLACES[place]).join(', ');
  const cells = [httpStatus === null ? '' : String(httpStatus), retryable ? 'yes' : 'no', places, message];
  return `<tr><td><code>${escapeHtml(code)}</code></td>${cells.map((cell) => `<td>${escapeHtml(cell)}</td>`).join('')}</tr>`;
}

/** A static file of this service that the page loads. */
function readPublicFile(name: string): Buffer {
  return readFileSync(join(PUBLIC_DIR, name));
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
