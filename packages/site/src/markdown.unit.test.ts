import { withSamples } from './expand';
import { renderMarkdown } from './markdown';
import { parsePage } from './page-source';

const html = (...lines: string[]): string => renderMarkdown(lines.join('\n')).html;

describe('Markdown', () => {
  it('makes tabs of adjacent code with titles, of which the first is shown, and leaves other code alone', () => {
    const page = html(
      '```sh title="curl"',
      'curl x',
      '```',
      '',
      '```py title="Python"',
      'get(x)',
      '```',
      '',
      'Then:',
      '',
      '```sh title="curl"',
      'curl y',
      '```',
      '',
      '```sh',
      'plain',
      '```',
    );
    expect(page.match(/<fieldset/g)).toHaveLength(2);
    const names = [...page.matchAll(/name="([^"]+)" id="([^"]+)" value="(\w+)"( checked)?/g)];
    expect(names.map(([, , , title, checked]) => [title, checked])).toEqual([
      ['curl', ' checked'],
      ['Python', undefined],
      ['curl', ' checked'],
    ]);
    expect(new Set(names.map(([, group]) => group)).size).toBe(2);
    expect(new Set(names.map(([, , id]) => id)).size).toBe(3);
    expect(page.slice(page.lastIndexOf('</fieldset>'))).toContain('plain');
  });

  it('colors code by classes, and leaves placeholders whole', () => {
    const page = html('```sh', 'export BASE={{base_url}}/v1 # "<a>"', '```', '```nosuch', '<b>{{x}}', '```');
    expect(page).toContain('<span class="hljs-built_in">export</span>');
    expect(page).toContain('{{base_url}}/v1');
    expect(page).toContain('&lt;b&gt;{{x}}');
    expect(page).not.toContain('style=');
  });

  it('gives headings anchors, the second of a name another one, and knows the text below each', () => {
    const { html: page, parts } = renderMarkdown(
      'Before\n\n## Set `sync_mode`\n\nOne *two*\n\n## Set sync_mode\n',
    );
    expect(page).toContain('<h2 id="set-sync_mode"><a class="anchor" href="#set-sync_mode">');
    expect(parts.map(({ heading, text }) => [heading?.id, text])).toEqual([
      [undefined, 'Before'],
      ['set-sync_mode', 'One two'],
      ['set-sync_mode-2', ''],
    ]);
  });

  it('makes callouts of quotes that say so', () => {
    const page = html('> [!WARNING]', '> Keep it **secret**.', '', '> Only a quote');
    expect(page).toMatch(/<blockquote class="callout callout-warning">\s*<p>Keep it <strong>/);
    expect(page).toMatch(/<blockquote class="callout callout-note">\s*<p>Only a quote/);
  });

  it('leaves out the head of a table that has none, and names rows by their first column', () => {
    expect(html('| | |', '|---|---|', '| a | b |')).toMatch(
      /<table>\s*<tbody>\s*<tr>\s*<th scope="row">a<\/th>\s*<td>b<\/td>/,
    );
    expect(html('| | y |', '|---|---|', '| a | b |')).toMatch(
      /<thead>\s*<tr>\s*<td><\/td>\s*<th scope="col">y<\/th>/,
    );
  });

  it('gives each cell the head of its column, if there is one', () => {
    expect(html('| x | `y` | |', '|---|---|---|', '| a | b | c |')).toMatch(
      /<th scope="row">a<\/th>\s*<td data-head="y">b<\/td>\s*<td>c<\/td>/,
    );
  });
});

describe('a page', () => {
  const head = 'title: T\nsummary: S\nsection: Guides\norder: 1';

  it('must say what it is called, and where it belongs', () => {
    expect(parsePage('x', `---\n${head}\n---\n\n\`\`\`sh\n# no heading\n\`\`\`\n`)).toMatchObject({
      slug: 'x',
      title: 'T',
      order: 1,
    });
    expect(() => parsePage('x', 'text')).toThrow('x.md has no front matter');
    expect(() => parsePage('x', `---\n${head.replace('Guides', 'Other')}\n---\n`)).toThrow('section one of');
    expect(() => parsePage('x', `---\n${head.replace('summary: S\n', '')}\n---\n`)).toThrow('summary');
    expect(() => parsePage('x', `---\n${head}\n---\n# T\n`)).toThrow('only first heading');
  });

  it('takes in samples as they are, and fails where there is none', () => {
    const text = withSamples('<<< page-source.ts\n\n<<< escape.ts title="Escape"', __dirname);
    expect(text).toMatch(/^```ts title="TypeScript"\nimport /);
    expect(text).toContain('```ts title="Escape"\nexport function escapeHtml');
    expect(() => withSamples('<<< nothing.py', __dirname)).toThrow('ENOENT');
  });
});
