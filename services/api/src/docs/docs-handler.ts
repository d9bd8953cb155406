import { type RequestHandler } from 'express';
import { loadDocsFiles } from './docs-files';

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
  const files = loadDocsFiles(publicBaseUrl);
  return (_req, res, next) => {
    const { path } = res.locals.context;
    const file = files.get(path.replace(/\/$/, ''));
    if (file === undefined) return next();
    res.setHeader('Content-Security-Policy', POLICY);
    res.setHeader('Content-Type', file.contentType);
    res.setHeader('Content-Length', file.bytes.length);
    res.setHeader('Cache-Control', 'public, max-age=300');
    res.end(file.bytes);
  };
}
