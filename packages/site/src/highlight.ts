import { createRequire } from 'node:module';
import { escapeHtml } from './escape';

/** What is used of highlight.js. Its own types would give a browser's to all other code that is checked with this. */
interface Highlighter {
  getLanguage(name: string): object | undefined;
  highlight(code: string, options: { language: string; ignoreIllegals: boolean }): { value: string };
}
const highlighter = createRequire(__filename)('highlight.js/lib/common') as Highlighter;

/** A placeholder is no code: braces would be taken for some. */
const PLACEHOLDER = /\{\{([a-z_]+)\}\}/g;
const HIDDEN = /\uE000([a-z_]+)\uE001/g;

/** Code as HTML, with a class for each kind of word: the policy of the pages allows no inline styles. */
export function highlight(code: string, language: string): string {
  if (highlighter.getLanguage(language) === undefined) return escapeHtml(code);
  const hidden = code.replaceAll(PLACEHOLDER, '\uE000$1\uE001');
  return highlighter.highlight(hidden, { language, ignoreIllegals: true }).value.replaceAll(HIDDEN, '{{$1}}');
}
