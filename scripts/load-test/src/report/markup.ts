/** Text that is already markup and is inserted into a page unescaped. */
export class Markup {
  constructor(readonly text: string) {}
}

type Part = string | number | Markup | null | readonly (Markup | string)[];

/** Inserts values into markup: strings and numbers escaped, markup as is, arrays concatenated, null as nothing. */
export function markup(texts: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  return new Markup(texts.reduce((all, text, i) => all + rendered(parts[i - 1] ?? null) + text));
}

function rendered(part: Part): string {
  if (part === null) return '';
  if (part instanceof Markup) return part.text;
  if (typeof part === 'number') return String(part);
  if (typeof part === 'string') return escaped(part);
  return part.map(rendered).join('');
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

/** The columns behind the first `texts` hold numbers, which are right-aligned. */
export function table(
  heads: readonly string[],
  rows: readonly (readonly (Markup | string)[])[],
  texts = 1,
): Markup {
  const kind = (column: number): string => (column < texts ? 'text' : 'number');
  const head = heads.map((text, i) => markup`<th class="${kind(i)}">${text}</th>`);
  const body = rows.map(
    (cells) => markup`<tr>${cells.map((cell, i) => markup`<td class="${kind(i)}">${cell}</td>`)}</tr>`,
  );
  return markup`<div class="scroll"><table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table></div>`;
}

/** Embedded in the page, which is opened from disk, from a CI artifact or from an email, and printed. */
export const STYLE = `
:root { --ink: #1c2530; --soft: #5c6875; --line: #dfe4ea; --paper: #fff; --wash: #f5f7f9;
  --good: #00845f; --bad: #c8401a; --warn: #b26a00; }
* { box-sizing: border-box; }
body { margin: 0; background: var(--wash); color: var(--ink);
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
main { max-width: 1200px; margin: 0 auto; padding: 28px 24px 64px; }
header { border-bottom: 1px solid var(--line); padding-bottom: 18px; margin-bottom: 20px; }
h1 { font-size: 24px; line-height: 1.25; margin: 0 0 4px; font-weight: 650; letter-spacing: -0.01em; }
h2 { font-size: 17px; margin: 34px 0 12px; font-weight: 650; }
h3 { font-size: 14px; margin: 18px 0 8px; font-weight: 600; }
p { margin: 8px 0 10px; max-width: 110ch; }
.meta, .note { color: var(--soft); font-size: 13.5px; }
.summary { font-size: 16.5px; margin: 14px 0 0; max-width: 95ch; }
.badge { display: inline-block; border-radius: 999px; padding: 2px 11px; font-size: 13px; font-weight: 600; color: #fff;
  vertical-align: 3px; margin-left: 10px; }
.badge.carried, .badge.passed { background: var(--good); }
.badge.failed { background: var(--bad); }
.badge.service_saturated, .badge.generator_saturated { background: var(--warn); }
.reasons { margin: 10px 0 0; padding-left: 20px; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(165px, 1fr)); gap: 12px; }
.tile { background: var(--paper); border: 1px solid var(--line); border-radius: 8px; padding: 12px 14px; }
.tile b { display: block; font-size: 22px; font-weight: 650; font-variant-numeric: tabular-nums; line-height: 1.3; }
.tile span { color: var(--soft); font-size: 13px; }
.tile.bad b { color: var(--bad); }
div.grid { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 480px), 1fr)); gap: 14px; }
.chart { margin: 0; background: var(--paper); border: 1px solid var(--line); border-radius: 8px; padding: 12px 14px 8px; }
.chart figcaption { font-size: 14px; display: flex; gap: 10px; align-items: baseline; flex-wrap: wrap; }
.chart figcaption span { color: var(--soft); font-size: 13px; }
.chart svg { display: block; width: 100%; height: auto; }
.scroll { overflow-x: auto; background: var(--paper); border: 1px solid var(--line); border-radius: 8px; }
table { border-collapse: collapse; width: 100%; font-size: 13.5px; }
th, td { padding: 7px 12px; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
tbody tr:last-child td { border-bottom: 0; }
th { color: var(--soft); font-weight: 600; white-space: nowrap; background: #fafbfc; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.state { font-weight: 650; white-space: nowrap; }
.state.passed { color: var(--good); }
.state.failed { color: var(--bad); }
.state.skipped { color: var(--soft); font-weight: 500; }
.bar { display: inline-block; height: 9px; border-radius: 2px; background: var(--bad); margin-right: 8px; vertical-align: 0; }
.bar.limited { background: var(--warn); }
.bar.expected { background: #98a3af; }
code { font: 12.5px ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
ul.examples { margin: 4px 0 0; padding-left: 18px; color: var(--soft); }
dl.facts { display: grid; grid-template-columns: max-content 1fr; gap: 4px 18px; margin: 0; font-size: 13.5px;
  background: var(--paper); border: 1px solid var(--line); border-radius: 8px; padding: 12px 14px; }
dl.facts dt { color: var(--soft); }
dl.facts dd { margin: 0; }
@media print { body { background: #fff; } main { padding: 0; max-width: none; } .chart, .tile, .scroll { break-inside: avoid; } }
`;
