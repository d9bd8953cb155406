import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ERROR_CATALOGUE, type ErrorDefinition, type ErrorPlace } from '@lipsync/contract';

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
export function readPublicFile(name: string): Buffer {
  return readFileSync(join(PUBLIC_DIR, name));
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
