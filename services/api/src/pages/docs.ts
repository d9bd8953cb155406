import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { type Site } from '@lipsync/site';
import { serviceVersion } from '@lipsync/telemetry';
import { type RequestHandler } from 'express';
import { figures, type Lifetimes } from './figures';
import { serveFiles, type StaticFile, staticFile } from './static-file';

/** The pages load only what this service serves, run no inline script, and cannot be framed. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');
const HEADERS = { 'Content-Security-Policy': POLICY };

interface DocsOptions extends Lifetimes {
  readonly publicBaseUrl: string;
  /** Whether there is a studio to link to. */
  readonly hasStudio: boolean;
}

/** A sibling of both src and dist, so the same relative path works from sources and from the build. */
const ROOT = join(__dirname, '..', '..');

/** The documentation as the build has made it, with the figures of this installation still to be filled in. */
export const loadSite = (): Site =>
  JSON.parse(readFileSync(join(ROOT, 'dist', 'docs', 'site.json'), 'utf8')) as Site;

/** /docs, its pages and what they load, llms.txt and robots.txt, all served from memory. */
export function docs(site: Site, options: DocsOptions): RequestHandler {
  const documents = Object.entries(filledDocuments(site, options)).map(
    ([path, text]): [string, StaticFile] => [path, staticFile(typeOf(path), Buffer.from(text))],
  );
  return serveFiles(
    new Map([
      ...documents,
      ...filesIn(join(ROOT, 'dist', 'docs', 'assets')),
      ...filesIn(join(ROOT, 'public', 'docs')),
    ]),
    HEADERS,
  );
}

/** Answers browsers with a page where there is nothing else, and passes programs on. */
export function notFound(site: Site, options: DocsOptions): RequestHandler {
  const page = Buffer.from(filled(site.notFound, valuesOf(options), escapeHtml));
  return (req, res, next) => {
    const isRead = req.method === 'GET' || req.method === 'HEAD';
    if (!isRead || req.accepts(['json', 'html']) !== 'html') return next();
    res.locals.context.fields.error_code = 'not_found';
    res.statusCode = 404;
    for (const [name, value] of Object.entries(HEADERS)) res.setHeader(name, value);
    res.setHeader('Content-Type', typeOf(''));
    res.setHeader('Content-Length', page.length);
    res.setHeader('Cache-Control', 'no-store');
    res.end(page);
  };
}

/** What each address answers on this installation. */
export function filledDocuments(site: Site, options: DocsOptions): Readonly<Record<string, string>> {
  const values = valuesOf(options);
  const entries = Object.entries(site.documents).map(([path, text]) => [
    path,
    filled(text, values, ESCAPES[extname(path)] ?? ((value) => value)),
  ]);
  return Object.fromEntries(entries) as Record<string, string>;
}

const valuesOf = (options: DocsOptions): Readonly<Record<string, string>> => ({
  ...figures(options),
  base_url: options.publicBaseUrl,
  version: serviceVersion(),
  studio: options.hasStudio ? 'on' : '',
});

/** How a value is written in documents of that ending; other texts take it as it is. */
const ESCAPES: Readonly<Record<string, (value: string) => string>> = {
  '': escapeHtml,
  '.json': (value) => JSON.stringify(value).slice(1, -1),
};

const CONDITION = /\{\{#(\w+)\}\}(\n*)(.*?)\{\{\/\1\}\}(\n*)/gs;

/**
 * Writes values in the place of their names, and leaves out what depends on an empty one.
 * @throws for an unknown name, at start
 */
function filled(
  template: string,
  values: Readonly<Record<string, string>>,
  escape: (value: string) => string,
): string {
  const valueOf = (name: string): string => {
    const value = values[name];
    if (value === undefined) throw new Error(`The documentation names an unknown value: ${name}`);
    return value;
  };
  return template
    .replaceAll(CONDITION, (_, name: string, before: string, text: string, after: string) => {
      const isShown = valueOf(name) !== '';
      // Marks on lines of their own leave none of these lines.
      return (isShown ? text : '') + (before === '' ? after : '');
    })
    .replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => escape(valueOf(name)));
}

const TYPES: Readonly<Record<string, string>> = {
  '': 'text/html; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.jpg': 'image/jpeg',
  '.png': 'image/png',
  '.webp': 'image/webp',
};

function typeOf(path: string): string {
  const type = TYPES[extname(path)];
  if (type === undefined) throw new Error(`The documentation holds a file of an unknown type: ${path}`);
  return type;
}

/** Read once at start, so no part of a request ever becomes a file name. */
function filesIn(folder: string): [string, StaticFile][] {
  return readdirSync(folder).map((name) => [
    `/docs/${name}`,
    staticFile(typeOf(name), readFileSync(join(folder, name))),
  ]);
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
