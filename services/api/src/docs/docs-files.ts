import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readPublicFile, renderDocsPage } from './docs-page';

export interface DocsFile {
  contentType: string;
  bytes: Buffer;
}

/**
 * Every file under /docs, keyed by path. All are read once at start, so no part of a request ever becomes a file name.
 */
export function loadDocsFiles(publicBaseUrl: string): ReadonlyMap<string, DocsFile> {
  const swaggerDir = dirname(require.resolve('swagger-ui-dist/package.json'));
  const swagger = (name: string): Buffer => readFileSync(join(swaggerDir, name));
  const css = 'text/css; charset=utf-8';
  const js = 'text/javascript; charset=utf-8';
  return new Map([
    ['/docs', { contentType: 'text/html; charset=utf-8', bytes: Buffer.from(renderDocsPage(publicBaseUrl)) }],
    ['/docs/docs.css', { contentType: css, bytes: readPublicFile('docs.css') }],
    ['/docs/docs.js', { contentType: js, bytes: readPublicFile('docs.js') }],
    ['/docs/swagger-ui.css', { contentType: css, bytes: swagger('swagger-ui.css') }],
    ['/docs/swagger-ui-bundle.js', { contentType: js, bytes: swagger('swagger-ui-bundle.js') }],
    ['/docs/favicon-32x32.png', { contentType: 'image/png', bytes: swagger('favicon-32x32.png') }],
  ]);
}
