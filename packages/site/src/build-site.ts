import { join } from 'node:path';
import { withBlocks, withSamples } from './expand';
import { layout, notFoundPage } from './layout';
import { llmsFull, llmsIndex } from './llms';
import { renderMarkdown } from './markdown';
import { addressOf, inOrderOfReading, type PageSource, readPages, textAddressOf } from './page-source';
import { referencePage } from './reference';
import { searchEntries } from './search-entries';

/** A page of the finished documentation. */
export interface SitePage {
  readonly slug: string;
  readonly title: string;
  readonly address: string;
  readonly textAddress: string;
}

/**
 * The documentation. `{{name}}` stands for a value of the installation that serves it, and what is between `{{#name}}`
 * and `{{/name}}` is left out where that value is empty.
 */
export interface Site {
  /** In the order of reading. */
  readonly pages: readonly SitePage[];
  /** What each address answers; its ending tells its type, and without one it is HTML. */
  readonly documents: Readonly<Record<string, string>>;
  /** For addresses at which there is nothing. */
  readonly notFound: string;
}

interface SiteFolders {
  /** One Markdown file for each page. */
  readonly pages: string;
  /** What `<<<` names is relative to it. */
  readonly samples: string;
}

export function buildSite({ pages, samples }: SiteFolders): Site {
  const sources = [...readPages(pages), referencePage()]
    .map((page): PageSource => ({ ...page, body: withSamples(page.body, samples) }))
    .sort(inOrderOfReading);
  const texts = sources.map((page) => ({ page, text: textOf(page) }));
  const rendered = sources.map((page) => ({ page, ...renderMarkdown(withBlocks(page.body, 'html')) }));
  const documents: (readonly [string, string])[] = [
    ...rendered.map(
      ({ page, ...content }) => [addressOf(page.slug), layout(page, content, sources)] as const,
    ),
    ...texts.map(({ page, text }) => [textAddressOf(page.slug), text] as const),
    ['/docs/search.json', JSON.stringify(rendered.flatMap(searchEntries))],
    ['/llms.txt', llmsIndex(sources)],
    ['/llms-full.txt', llmsFull(texts)],
    ['/robots.txt', 'User-agent: *\nDisallow: /v1/\n'],
  ];
  return {
    pages: sources.map(({ slug, title }) => ({
      slug,
      title,
      address: addressOf(slug),
      textAddress: textAddressOf(slug),
    })),
    documents: Object.fromEntries(documents),
    notFound: notFoundPage(sources),
  };
}

/**
 * A page for those who read text: its title and summary instead of the front matter, no layout, and links to other pages
 * in this form, which lead there from wherever the text was copied to.
 */
function textOf({ title, heading, summary, body }: PageSource): string {
  const text = withBlocks(body, 'markdown')
    .replaceAll(/^<\/?div[^>]*>\n+/gm, '')
    .replaceAll(
      /\]\(\/docs(?:\/([\w-]+))?(?=[#)])/g,
      (_, slug = 'index') => `](${textAddressOf(String(slug))}`,
    )
    .replaceAll('](/', ']({{base_url}}/');
  return `# ${heading ?? title}\n\n> ${summary}\n\n${text.trim()}\n`;
}

/** What the pages load: docs.css, theme.js and docs.js, as the build of this package has made them. */
export const assetsFolder = (): string => join(__dirname, '..', 'dist', 'assets');
