import { type RenderedPage } from './markdown';
import { addressOf, type PageSource, withoutMarks } from './page-source';

/** A part of a page that a search can find. */
export interface SearchEntry {
  /** With the anchor of its heading. */
  readonly id: string;
  readonly page: string;
  /** Empty for what comes before the first heading. */
  readonly heading: string;
  readonly text: string;
}

export function searchEntries({
  page,
  parts,
}: { readonly page: PageSource } & Pick<RenderedPage, 'parts'>): SearchEntry[] {
  return parts.map(({ heading, text }) => ({
    id: addressOf(page.slug) + (heading === undefined ? '' : `#${heading.id}`),
    page: page.title,
    heading: heading?.text ?? '',
    text: heading === undefined ? `${withoutMarks(page.summary)} ${text}` : text,
  }));
}
