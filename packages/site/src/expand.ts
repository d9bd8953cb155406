import { readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { ERROR_CATALOGUE, type ErrorPlace, SYNC_MODES, type SyncMode } from '@lipsync/contract';
import { syncModePicture } from './sync-mode-pictures';

const TITLES: Readonly<Record<string, string>> = {
  '.sh': 'curl',
  '.ts': 'TypeScript',
  '.tsx': 'TypeScript',
  '.py': 'Python',
  '.go': 'Go',
};

/**
 * `<<< samples/render.py` on a line of its own becomes the text of that file, which is one that a test runs. Its tab is
 * named after its language, or by a title after it: `<<< samples/page.tsx title="Next.js"`.
 */
export function withSamples(body: string, folder: string): string {
  return body.replaceAll(/^<<< (\S+)(?: title="([^"]+)")?$/gm, (_, file: string, title?: string) => {
    const extension = extname(file);
    const text = readFileSync(join(folder, file), 'utf8').trimEnd();
    return `\`\`\`${extension.slice(1)} title="${title ?? TITLES[extension] ?? file}"\n${text}\n\`\`\``;
  });
}

/** What is made of the contract, as text and as HTML. */
interface Block {
  readonly markdown: () => string;
  readonly html: () => string;
}

/** Stand in the place of `{{name}}` on a line of its own. */
const BLOCKS: Readonly<Record<string, Block>> = {
  error_rows: { markdown: errorTable, html: () => errorTable('html') },
  sync_mode_pictures: {
    markdown: () => SYNC_MODES.map((mode) => `## \`${mode}\`\n\n${MODE_TEXTS[mode]}`).join('\n\n'),
    html: () => SYNC_MODES.map(syncModeSection).join('\n\n'),
  },
};

export function withBlocks(body: string, form: keyof Block): string {
  return body.replaceAll(/^\{\{(\w+)\}\}$/gm, (all, name: string) => BLOCKS[name]?.[form]() ?? all);
}

const PLACES: Readonly<Record<ErrorPlace, string>> = {
  request: 'answer',
  asset: 'asset',
  record: 'record',
  engine: 'engine',
};

/** Each row is a heading of its own to links: a message that names a code leads to its row. */
function errorTable(form: 'markdown' | 'html' = 'markdown'): string {
  const rows = Object.entries(ERROR_CATALOGUE).map(([code, { httpStatus, retryable, where, message }]) => {
    const name = form === 'html' ? `<span id="${code}">\`${code}\`</span>` : `\`${code}\``;
    const places = where.map((place) => PLACES[place]).join(', ');
    return `| ${name} | ${httpStatus ?? ''} | ${retryable ? 'yes' : 'no'} | ${places} | ${message.replaceAll('|', '\\|')} |`;
  });
  return ['| Code | Status | Retryable | Found in | Meaning |', '|---|---|---|---|---|', ...rows].join('\n');
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
  const figure = (video: number, voice: number, caption: string): string =>
    `<figure>${syncModePicture(mode, video, voice)}<figcaption>${caption}</figcaption></figure>`;
  return [
    `## \`${mode}\``,
    MODE_TEXTS[mode],
    [
      '<div class="pictures">',
      figure(4, 10, 'The voice is longer: 4 s of video, 10 s of voice'),
      figure(10, 4, 'The video is longer: 10 s of video, 4 s of voice'),
      '</div>',
    ].join('\n'),
  ].join('\n\n');
}
