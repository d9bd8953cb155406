import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import {
  ERROR_CATALOGUE,
  type ErrorDefinition,
  type ErrorPlace,
  SYNC_MODES,
  type SyncMode,
} from '@lipsync/contract';
import { type RequestHandler } from 'express';
import { figures, type Lifetimes } from './figures';
import { serveFiles, type StaticFile, staticFile } from './static-file';
import { syncModePicture } from './sync-mode-pictures';

/**
 * The pages load only what this service serves, run no inline script, and cannot be framed. The API reference sets style
 * attributes through the DOM, which this policy does not restrict, and draws its icons from data: URLs.
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

export interface DocsOptions extends Lifetimes {
  readonly publicBaseUrl: string;
  /** Whether there is a studio to link to. */
  readonly hasStudio: boolean;
}

/** In the order of reading. `path` is that of the address, `name` that of the file. */
export const PAGES = [
  { path: '/docs', name: 'first-render', title: 'First render' },
  { path: '/docs/uploads', name: 'uploads', title: 'Uploads' },
  { path: '/docs/sync-modes', name: 'sync-modes', title: 'Sync modes' },
  { path: '/docs/results', name: 'results', title: 'What comes back' },
  { path: '/docs/engines', name: 'engines', title: 'Choosing an engine' },
  { path: '/docs/preparations', name: 'preparations', title: 'Preparations' },
  { path: '/docs/webhooks', name: 'webhooks', title: 'Webhooks' },
  { path: '/docs/errors', name: 'errors', title: 'Errors' },
  { path: '/docs/usage', name: 'usage', title: 'Usage and cost' },
  { path: '/docs/limits', name: 'limits', title: 'Limits' },
  { path: '/docs/reference', name: 'reference', title: 'API reference' },
] as const;
type Page = (typeof PAGES)[number];

/** GET /docs, the pages below it and what they load, all served from memory. */
export function docs(options: DocsOptions): RequestHandler {
  return serveFiles(loadDocs(options), { 'Content-Security-Policy': POLICY });
}

/** A sibling of both src and dist, so the same relative path works from sources and from the build. */
const PUBLIC_DIR = join(__dirname, '..', '..', 'public');
const readPublic = (...path: string[]): Buffer => readFileSync(join(PUBLIC_DIR, ...path));

/** Every file under /docs, keyed by path. All are read once at start, so no part of a request ever becomes a file name. */
function loadDocs(options: DocsOptions): ReadonlyMap<string, StaticFile> {
  const swaggerDir = dirname(require.resolve('swagger-ui-dist/package.json'));
  const swagger = (name: string): Buffer => readFileSync(join(swaggerDir, name));
  const css = 'text/css; charset=utf-8';
  const js = 'text/javascript; charset=utf-8';
  return new Map([
    ...PAGES.map((page): [string, StaticFile] => [
      page.path,
      staticFile('text/html; charset=utf-8', Buffer.from(renderPage(page, options))),
    ]),
    ['/docs/docs.css', staticFile(css, readPublic('docs', 'docs.css'))],
    ['/docs/reference.js', staticFile(js, readPublic('docs', 'reference.js'))],
    ['/docs/contact-sheet.jpg', staticFile('image/jpeg', readPublic('docs', 'contact-sheet.jpg'))],
    ['/docs/icon.svg', staticFile('image/svg+xml', readPublic('docs', 'icon.svg'))],
    ['/docs/swagger-ui.css', staticFile(css, swagger('swagger-ui.css'))],
    ['/docs/swagger-ui-bundle.js', staticFile(js, swagger('swagger-ui-bundle.js'))],
  ]);
}

/** One page within the common frame. A `{{name}}` stands for a value; an unknown one is an error at start. */
export function renderPage(page: Page, options: DocsOptions): string {
  const { publicBaseUrl, hasStudio } = options;
  const values = {
    ...figures(options),
    base_url: escapeHtml(publicBaseUrl),
    title: page.title,
    navigation: PAGES.map((each) => link(each, each === page)).join('\n'),
    neighbors: neighbors(page),
    studio_link: hasStudio ? '<a href="/studio">Studio</a>' : '',
    studio_compare: hasStudio ? 'The <a href="/studio">studio</a> shows them so.' : '',
    studio_hint: hasStudio ? readPublic('docs', 'studio-hint.html').toString() : '',
  };
  const content = filled(readPublic('docs', `${page.name}.html`).toString(), (name) => {
    const [kind, argument = ''] = name.split(' ');
    if (kind === 'tabs') return tabs(argument);
    if (name === 'error_rows') return Object.entries(ERROR_CATALOGUE).map(errorRow).join('\n');
    if (name === 'sync_mode_pictures') return SYNC_MODES.map(syncModeSection).join('\n');
    return valueOf(values, name);
  });
  return filled(readPublic('docs', 'layout.html').toString(), (name) =>
    name === 'content' ? content : valueOf(values, name),
  );
}

function filled(template: string, valueOfName: (name: string) => string): string {
  return template.replaceAll(/\{\{([^}]+)\}\}/g, (_, name: string) => valueOfName(name));
}

function valueOf(values: Readonly<Record<string, string>>, name: string): string {
  const value = values[name];
  if (value === undefined) throw new Error(`The documentation names an unknown value: ${name}`);
  return value;
}

const link = ({ path, title }: Page, isCurrent: boolean): string =>
  `<li><a href="${path}"${isCurrent ? ' aria-current="page"' : ''}>${title}</a></li>`;

function neighbors(page: Page): string {
  const index = PAGES.indexOf(page);
  const [before, after] = [index === 0 ? undefined : PAGES[index - 1], PAGES[index + 1]];
  return [
    before === undefined ? '' : `<a rel="prev" href="${before.path}">← ${before.title}</a>`,
    after === undefined ? '' : `<a rel="next" href="${after.path}">${after.title} →</a>`,
  ].join('');
}

const LANGUAGES: Readonly<Record<string, string>> = { sh: 'curl', ts: 'TypeScript', py: 'Python', go: 'Go' };

/** The text of a file that a test runs. */
function sample(file: string): string {
  const text = escapeHtml(readPublic('samples', file).toString().trimEnd());
  return `<pre tabindex="0"><code>${text}</code></pre>`;
}

/** The same in several languages, of which one is shown: radio buttons, so that it needs no script. */
function tabs(files: string): string {
  const [group = ''] = files.split('.');
  const items = files.split(',').map((file, i) => {
    const language = LANGUAGES[file.split('.')[1] ?? ''] ?? '';
    const id = `${group}-${i}`;
    const input = `<input type="radio" name="${group}" id="${id}"${i === 0 ? ' checked' : ''}>`;
    return `${input}<label for="${id}">${language}</label><div>${sample(file)}</div>`;
  });
  return `<fieldset class="tabs"><legend>Language</legend>${items.join('\n')}</fieldset>`;
}

const PLACES: Readonly<Record<ErrorPlace, string>> = {
  request: 'answers',
  asset: 'assets',
  record: 'renders and preparations',
  engine: 'engine results',
};

function errorRow([code, { httpStatus, retryable, where, message }]: [string, ErrorDefinition]): string {
  const places = where.map((place) => PLACES[place]).join(', ');
  const cells = [httpStatus === null ? '' : String(httpStatus), retryable ? 'yes' : 'no', places, message];
  return `<tr id="${code}"><th scope="row"><code>${escapeHtml(code)}</code></th>${cells.map((cell) => `<td>${escapeHtml(cell)}</td>`).join('')}</tr>`;
}

const MODE_TEXTS: Readonly<Record<SyncMode, string>> = {
  cut_off: 'As long as the shorter of both. What is left of the longer one is left out.',
  bounce: 'As long as the voice. The video plays forward and backward, without a jump.',
  loop: 'As long as the voice. The video starts again at its end, which shows as a jump unless the clip is made for it.',
  remap: 'As long as the voice. The whole video is slowed down or sped up; the voice never is.',
  silence:
    'As long as the longer of both. A short voice is followed by silence, a short video holds its last frame, and the lips go on speaking there.',
};

function syncModeSection(mode: SyncMode): string {
  return [
    `<section class="mode" id="${mode}"><h2><code>${mode}</code></h2><p>${MODE_TEXTS[mode]}</p>`,
    `<div class="pictures"><figure>${syncModePicture(mode, 4, 10)}<figcaption>The voice is longer: 4 s of video, 10 s of voice</figcaption></figure>`,
    `<figure>${syncModePicture(mode, 10, 4)}<figcaption>The video is longer: 10 s of video, 4 s of voice</figcaption></figure></div></section>`,
  ].join('\n');
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
