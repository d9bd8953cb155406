import { escapeHtml } from './escape';
import { type Heading, type RenderedPage, renderInline } from './markdown';
import { addressOf, type PageSource, SECTIONS, textAddressOf, withoutMarks } from './page-source';

/** One page within the common frame. */
export function layout(
  page: PageSource,
  { html, parts }: RenderedPage,
  pages: readonly PageSource[],
): string {
  const title = escapeHtml(page.title);
  const text = textAddressOf(page.slug);
  const headings = parts.flatMap(({ heading }) => heading ?? []);
  return frame({
    title,
    head: [
      `<meta name="description" content="${escapeHtml(withoutMarks(page.summary))}">`,
      `<link rel="alternate" type="text/markdown" href="${text}" title="This page as Markdown">`,
    ].join('\n'),
    current: page,
    pages,
    main: `<div class="page-tools"><span>${page.section}</span><button type="button" data-copy="${text}" hidden>Copy page</button><a href="${text}">View as Markdown</a></div>
<h1>${escapeHtml(page.heading ?? page.title)}</h1>
<p class="lead">${renderInline(page.summary)}</p>
${withoutParagraphsAroundConditions(html)}
${neighbors(page, pages)}`,
    headings,
    kind: page.slug,
  });
}

/** What a browser shows at a URL where there is nothing. */
export function notFoundPage(pages: readonly PageSource[]): string {
  return frame({
    title: 'Not found',
    head: '<meta name="robots" content="noindex">',
    current: undefined,
    pages,
    main: `<h1>There is nothing here</h1>
<p class="lead">The URL may be mistyped, or the page has moved.</p>
<p class="ways"><button type="button" class="button button-primary button-large" data-search hidden>Search the documentation</button>
<a class="button button-large" href="/docs">Documentation</a>{{#studio}}<a class="button button-large" href="/studio">Studio</a>{{/studio}}</p>`,
    headings: [],
    kind: 'not-found',
  });
}

interface Frame {
  readonly title: string;
  readonly head: string;
  readonly current: PageSource | undefined;
  readonly pages: readonly PageSource[];
  readonly main: string;
  readonly headings: readonly Heading[];
  /** What of the styles is for this page alone. */
  readonly kind: string;
}

const frame = ({ title, head, current, pages, main, headings, kind }: Frame): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} · Lipsync Docs</title>
<link rel="icon" type="image/svg+xml" href="/docs/icon.svg">
<link rel="stylesheet" href="/docs/docs.css">
<link rel="alternate" type="text/plain" href="/llms.txt" title="llms.txt">
${head}
<script src="/docs/theme.js"></script>
<script src="/docs/docs.js" defer></script>
</head>
<body class="page-${kind}">
<a class="skip" href="#content">Skip to the text</a>
<div class="top"><header class="header">
<a class="brand" href="/docs" aria-label="Lipsync Docs, first page">${MARK}<span>Lipsync <b>Docs</b></span></a>
<nav aria-label="Service">
<button type="button" class="button search-button" aria-label="Search" data-search hidden>${SEARCH_ICON}<span>Search</span><kbd>/</kbd></button>
${serviceLink('/docs', 'Docs', current !== undefined && current.slug !== 'reference')}
${serviceLink('/docs/reference', 'Reference', current?.slug === 'reference')}
{{#studio}}${serviceLink('/studio', 'Studio', false)}{{/studio}}
<button type="button" class="button button-quiet button-icon" data-theme-switch hidden></button>
</nav>
</header></div>
<div class="columns">
<button type="button" class="button menu-button" popovertarget="pages">${MENU_ICON}${current === undefined ? 'All pages' : `${current.section} · ${escapeHtml(current.title)}`}</button>
<nav id="pages" class="pages" aria-label="Documentation" popover>
${navigation(pages, current, headings)}
</nav>
<main id="content">
${main}
</main>
${contents(headings)}
</div>
<footer class="footer"><span>For programs and agents, every page is also Markdown.</span>
<nav aria-label="For programs"><a href="/llms.txt">llms.txt</a> <a href="/llms-full.txt">llms-full.txt</a> <a href="/openapi.json">openapi.json</a></nav></footer>
</body>
</html>
`;

const serviceLink = (path: string, text: string, isCurrent: boolean): string =>
  `<a class="button button-quiet"${isCurrent ? ' aria-current="true"' : ''} href="${path}">${text}</a>`;

function navigation(
  pages: readonly PageSource[],
  current: PageSource | undefined,
  headings: readonly Heading[],
): string {
  const item = (page: PageSource): string => {
    const isCurrent = page === current;
    const link = `<a href="${addressOf(page.slug)}"${isCurrent ? ' aria-current="page"' : ''}>${escapeHtml(page.title)}</a>`;
    // The samples of the reference are where other pages have their contents.
    const parts = isCurrent && page.slug === 'reference' ? headings.filter(({ level }) => level === 2) : [];
    return `<li>${link}${parts.length === 0 ? '' : `<ul>${parts.map(headingLink).join('')}</ul>`}</li>`;
  };
  return SECTIONS.map((section) => {
    const items = pages.filter((page) => page.section === section).map(item);
    return items.length === 0 ? '' : `<h2>${section}</h2>\n<ul>\n${items.join('\n')}\n</ul>`;
  }).join('\n');
}

const headingLink = ({ level, id, text }: Heading): string =>
  `<li class="level-${level}"><a href="#${id}">${escapeHtml(text)}</a></li>`;

/** A page with a single part offers nothing to choose. */
function contents(headings: readonly Heading[]): string {
  const shown = headings.filter(({ level }) => level <= 3);
  if (shown.length < 2) return '';
  return `<nav class="contents" aria-label="On this page"><h2>On this page</h2><ul>${shown.map(headingLink).join('')}</ul></nav>`;
}

function neighbors(page: PageSource, pages: readonly PageSource[]): string {
  const index = pages.indexOf(page);
  const [before, after] = [pages[index - 1], pages[index + 1]];
  const link = (to: PageSource | undefined, rel: string, text: string): string =>
    to === undefined
      ? ''
      : `<a rel="${rel}" href="${addressOf(to.slug)}"><span>${text}</span>${escapeHtml(to.title)}</a>`;
  return `<nav class="neighbors" aria-label="Previous and next page">${link(before, 'prev', 'Previous')}${link(after, 'next', 'Next')}</nav>`;
}

/** A condition on a line of its own is no paragraph. */
const withoutParagraphsAroundConditions = (html: string): string =>
  html.replaceAll(/<p>(\{\{[#/]\w+\}\})<\/p>/g, '$1');

const MARK = `<svg width="28" height="28" viewBox="0 0 32 32" aria-hidden="true"><rect width="32" height="32" rx="9" class="brand-ground"/><path class="brand-lips" d="M5 16c3.2-3.7 5.9-5.5 8.1-5.5 1.2 0 2.1.5 2.9 1.3.8-.8 1.7-1.3 2.9-1.3 2.2 0 4.9 1.8 8.1 5.5-3.4 4.3-7 6.5-11 6.5S8.4 20.3 5 16Z"/><path class="brand-line" d="M8.5 16h15"/></svg>`;

const icon = (path: string): string =>
  `<svg class="icon" width="16" height="16" viewBox="0 0 24 24" aria-hidden="true"><path d="${path}"/></svg>`;
const SEARCH_ICON = icon('M10.5 4a6.5 6.5 0 1 0 .01 0M15.5 15.5l5 5');
const MENU_ICON = icon('M4 7h16M4 12h16M4 17h16');
