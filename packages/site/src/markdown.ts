import MarkdownIt, { type RendererRule, type StateCore, type Token } from 'markdown-it';
import { type CodeBlock, codeBlock, codeTabs } from './code-blocks';

export interface Heading {
  readonly level: number;
  readonly id: string;
  readonly text: string;
}

/** What is found between two headings, for the search. The first part of a page has no heading. */
export interface Part {
  readonly heading: Heading | undefined;
  readonly text: string;
}

export interface RenderedPage {
  readonly html: string;
  readonly parts: readonly Part[];
}

/**
 * CommonMark with tables, as HTML:
 *
 * - Headings have anchors.
 * - Adjacent code blocks that have a title are tabs.
 * - A quote that begins with [!NOTE], [!TIP] or [!WARNING] is a callout.
 * - The first column of a table names the row, and every cell knows the head of its column, for windows so narrow that
 *   cells stand below each other.
 */
export function renderMarkdown(text: string): RenderedPage {
  const markdown = new MarkdownIt({ html: true });
  for (const [name, rule] of Object.entries(CORE_RULES)) markdown.core.ruler.push(name, rule);
  Object.assign(markdown.renderer.rules, RENDERER_RULES);
  const tokens = markdown.parse(text, {});
  return { html: markdown.renderer.render(tokens, markdown.options, {}), parts: partsOf(tokens) };
}

/** One line, without a paragraph around it. */
export const renderInline = (text: string): string => new MarkdownIt().renderInline(text);

const CORE_RULES: Readonly<Record<string, (state: StateCore) => void>> = {
  anchors: ({ tokens }) => {
    const used = new Set<string>();
    for (const [i, token] of tokens.entries()) {
      if (token.type !== 'heading_open') continue;
      const base = slugOf(textOf(tokens[i + 1]));
      let id = base;
      for (let n = 2; used.has(id); n++) id = `${base}-${n}`;
      used.add(id);
      token.attrSet('id', id);
    }
  },

  tabs: (state) => {
    const grouped: Token[] = [];
    for (const token of state.tokens) {
      const last = grouped.at(-1);
      const isTab = token.type === 'fence' && titleOf(token) !== undefined;
      if (isTab && last?.type === 'code_tabs') last.children?.push(token);
      else if (isTab) {
        const group = new state.Token('code_tabs', '', 0);
        group.children = [token];
        grouped.push(group);
      } else grouped.push(token);
    }
    state.tokens = grouped;
  },

  callouts: ({ tokens }) => {
    for (const [i, token] of tokens.entries()) {
      const inline = tokens[i + 2];
      if (token.type !== 'blockquote_open' || inline?.type !== 'inline') continue;
      const kind = /^\[!(NOTE|TIP|WARNING)\]$/.exec(inline.children?.[0]?.content ?? '')?.[1];
      token.attrSet('class', `callout callout-${(kind ?? 'note').toLowerCase()}`);
      if (kind === undefined) continue;
      // With the break after it.
      inline.children?.splice(0, 2);
    }
  },

  tables: (state) => {
    state.tokens = withoutEmptyHeads(state.tokens);
    let heads: string[] = [];
    let column = 0;
    for (const [i, token] of state.tokens.entries()) {
      if (token.type === 'table_open') heads = [];
      if (token.type === 'tr_open') column = 0;
      if (token.type !== 'th_open' && token.type !== 'td_open') continue;
      const isHead = token.type === 'th_open' && state.tokens[i + 1]?.content !== '';
      const isFirst = token.type === 'td_open' && column === 0;
      const head = heads[column];
      if (isHead || isFirst) token.attrSet('scope', isHead ? 'col' : 'row');
      else if (head !== undefined && head !== '') token.attrSet('data-head', head);
      if (token.type === 'th_open') heads.push(textOf(state.tokens[i + 1]));
      column += 1;
      for (const each of [token, state.tokens[i + 2]])
        if (each !== undefined) each.tag = isHead || isFirst ? 'th' : 'td';
    }
  },
};

/** A table of Markdown always has a row of heads; a page says by an empty one that there are none. */
function withoutEmptyHeads(tokens: readonly Token[]): Token[] {
  let isInside = false;
  return tokens.filter((token, i) => {
    if (token.type === 'thead_open') {
      const end = tokens.findIndex(({ type }, at) => at > i && type === 'thead_close');
      isInside = tokens.slice(i, end).every(({ type, content }) => type !== 'inline' || content === '');
    }
    const isLeftOut = isInside;
    if (token.type === 'thead_close') isInside = false;
    return !isLeftOut;
  });
}

const RENDERER_RULES: Readonly<Record<string, RendererRule>> = {
  heading_open: (tokens, i) => {
    const id = tokens[i]?.attrGet('id') ?? '';
    return `<${tokens[i]?.tag} id="${id}"><a class="anchor" href="#${id}">`;
  },
  heading_close: (tokens, i) => `</a></${tokens[i]?.tag}>\n`,
  fence: (tokens, i) => codeBlock(blockOf(tokens[i])),
  code_tabs: (tokens, i) => codeTabs((tokens[i]?.children ?? []).map(blockOf), `tabs-${i}`),
  table_open: () => '<div class="table" tabindex="0"><table>\n',
  table_close: () => '</table></div>\n',
};

function blockOf(token: Token | undefined): CodeBlock {
  const info = token?.info.trim() ?? '';
  return {
    code: (token?.content ?? '').trimEnd(),
    language: info.split(/\s/)[0] ?? '',
    title: token === undefined ? undefined : titleOf(token),
  };
}

const titleOf = ({ info }: Token): string | undefined => /\stitle="([^"]+)"/.exec(info)?.[1];

/** As GitHub makes them, so that links work there too. */
const slugOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s+/g, '-');

/** The words of an inline token. */
const textOf = (token: Token | undefined): string =>
  (token?.children ?? [])
    .map(({ type, content }) => (type === 'text' || type === 'code_inline' ? content : ' '))
    .join('')
    .trim();

/** A row of a table that links lead to is found like what has a heading; of its cells the last one says what it is. */
const BELOW_HEADINGS = 7;

function partsOf(tokens: readonly Token[]): Part[] {
  let section: GrowingPart = { heading: undefined, texts: [] };
  let row: GrowingPart | undefined;
  const parts = [section];
  for (const [i, token] of tokens.entries()) {
    if (token.type === 'tr_close') row = undefined;
    if (token.type !== 'inline') continue;
    const text = textOf(token);
    const opening = tokens[i - 1];
    const [, rowId] = /^<span id="([^"]+)">/.exec(token.content) ?? [];
    if (opening?.type === 'heading_open') {
      const level = Number(opening.tag.slice(1));
      section = { heading: { level, id: String(opening.attrGet('id')), text }, texts: [] };
      parts.push(section);
    } else if (rowId !== undefined) {
      row = { heading: { level: BELOW_HEADINGS, id: rowId, text }, texts: [] };
      parts.push(row);
    } else if (row !== undefined) row.texts = [text];
    else section.texts.push(text);
  }
  return parts.map(({ heading, texts }) => ({
    heading,
    text: texts.join(' ').replaceAll(/\s+/g, ' ').trim(),
  }));
}

interface GrowingPart {
  readonly heading: Heading | undefined;
  texts: string[];
}
