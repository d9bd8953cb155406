import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Beside src and dist alike, so that the same path works from sources and from the build. */
const PUBLIC_DIR = join(__dirname, '..', '..', 'public');

const SAMPLES = ['verify-webhook.ts', 'verify-webhook.py', 'verify-webhook.go'] as const;

/** The documentation page: quickstart, webhook verification samples from their files, and the reference's mount. */
export function renderDocsPage(publicBaseUrl: string): string {
  const values = new Map<string, string>([['base_url', publicBaseUrl]]);
  for (const sample of SAMPLES)
    values.set(sample, readFileSync(join(PUBLIC_DIR, 'samples', sample), 'utf8').trimEnd());
  const template = readFileSync(join(PUBLIC_DIR, 'docs.html'), 'utf8');
  return template.replaceAll(/\{\{([^}]+)\}\}/g, (_, name: string) => {
    const value = values.get(name);
    if (value === undefined) throw new Error(`The documentation page names an unknown value: ${name}`);
    return escapeHtml(value);
  });
}

/** A static file of ours that the page loads. */
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
