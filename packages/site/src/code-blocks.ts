import { createRequire } from 'node:module';
import { escapeHtml } from './escape';

/** What is used of highlight.js. Its own types would give a browser's to all other code that is checked with this. */
interface Highlighter {
  getLanguage(name: string): object | undefined;
  highlight(code: string, options: { language: string; ignoreIllegals: boolean }): { value: string };
}
const highlighter = createRequire(__filename)('highlight.js/lib/common') as Highlighter;

/** A placeholder is not code, but its braces would be highlighted as code. */
const PLACEHOLDER = /\{\{([a-z_]+)\}\}/g;
const HIDDEN = /\uE000([a-z_]+)\uE001/g;

export interface CodeBlock {
  readonly code: string;
  /** The first word of a fence: sh, ts, py, go, json. */
  readonly language: string;
  /** What its tab says. */
  readonly title: string | undefined;
}

/** Code can be scrolled by the keyboard, where it is wider than the page. JSON may be broken anywhere: it is wrapped. */
export function codeBlock({ code, language }: CodeBlock): string {
  const kind = language === 'json' ? 'code code-json' : 'code';
  return `<div class="${kind}"><pre tabindex="0"><code>${highlight(code, language)}</code></pre></div>\n`;
}

/**
 * The same in several languages, of which one is shown: radio buttons, so that it needs no script. A script lets all
 * groups of a reader follow what was last chosen.
 *
 * @param group a name that no other group on the page has
 */
export function codeTabs(blocks: readonly CodeBlock[], group: string): string {
  const tabs = blocks.map((block, i) => {
    const title = escapeHtml(block.title ?? '');
    const id = `${group}-${i}`;
    const checked = i === 0 ? ' checked' : '';
    return `<input type="radio" name="${group}" id="${id}" value="${title}"${checked}><label for="${id}">${title}</label>${codeBlock(block)}`;
  });
  return `<fieldset class="tabs"><legend>Language</legend>${tabs.join('')}</fieldset>\n`;
}

/** Code as HTML, with a class for each kind of word: the policy of the pages allows no inline styles. */
function highlight(code: string, language: string): string {
  if (highlighter.getLanguage(language) === undefined) return escapeHtml(code);
  const hidden = code.replaceAll(PLACEHOLDER, '\uE000$1\uE001');
  return highlighter.highlight(hidden, { language, ignoreIllegals: true }).value.replaceAll(HIDDEN, '{{$1}}');
}
