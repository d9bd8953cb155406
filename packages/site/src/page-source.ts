import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

/** The groups of the sidebar, in its order. */
export const SECTIONS = ['Start', 'Guides', 'Tools', 'Reference', 'About'] as const;
export type Section = (typeof SECTIONS)[number];

/** A page before it is rendered. */
export interface PageSource {
  /** The last part of its address; `index` is the page at /docs itself. */
  readonly slug: string;
  /** As the sidebar calls it. */
  readonly title: string;
  /** What the page itself has above it, where that is more than its title. */
  readonly heading?: string;
  /** One sentence, with `code` and *emphasis*: the lead of the page, its line in llms.txt, its description to search engines. */
  readonly summary: string;
  readonly section: Section;
  readonly order: number;
  /** CommonMark, without a first heading. */
  readonly body: string;
}

/** The address of a page, and that of its text. */
export const addressOf = (slug: string): string => (slug === 'index' ? '/docs' : `/docs/${slug}`);
export const textAddressOf = (slug: string): string => `/docs/${slug}.md`;

/** A summary where there is no Markdown. */
export const withoutMarks = (summary: string): string => summary.replaceAll(/[`*]/g, '');

/** Every page in the folder, in the order of reading. */
export function readPages(folder: string): PageSource[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.md'))
    .map((name) => parsePage(name.slice(0, -'.md'.length), readFileSync(join(folder, name), 'utf8')));
}

export const inOrderOfReading = (a: PageSource, b: PageSource): number =>
  SECTIONS.indexOf(a.section) - SECTIONS.indexOf(b.section) ||
  a.order - b.order ||
  (a.slug < b.slug ? -1 : 1);

/** @throws where the front matter lacks something: a page without a summary would be missing from llms.txt. */
export function parsePage(slug: string, text: string): PageSource {
  const [, head, body] = /^---\n(.*?)\n---\n(.*)$/s.exec(text) ?? [];
  if (head === undefined || body === undefined) throw new Error(`${slug}.md has no front matter`);
  const { title, heading, summary, section, order } = parse(head) as Record<string, unknown>;
  const known = SECTIONS.find((each) => each === section);
  if (typeof title !== 'string' || typeof summary !== 'string' || typeof order !== 'number' || !known)
    throw new Error(
      `${slug}.md: title and summary are texts, order a number, section one of ${SECTIONS.join(', ')}`,
    );
  if (/^# /m.test(withoutCode(body))) throw new Error(`${slug}.md: the title is the only first heading`);
  const page = { slug, title, summary, section: known, order, body: body.trim() };
  return typeof heading === 'string' ? { ...page, heading } : page;
}

/** In a shell script, a line that begins with # is a comment. */
const withoutCode = (text: string): string => text.replaceAll(/^(```+|~~~+)[^]*?^\1/gm, '');
