import MiniSearch from 'minisearch';

interface Entry {
  readonly id: string;
  readonly page: string;
  readonly heading: string;
  readonly text: string;
}

const SHOWN = 8;

/** Opens by its buttons, by `/` and by Ctrl or Cmd with K. */
export function openSearchByKeys(): void {
  const open = createDialog();
  for (const button of document.querySelectorAll<HTMLButtonElement>('[data-search]')) {
    button.hidden = false;
    button.addEventListener('click', open);
  }
  document.addEventListener('keydown', (event) => {
    const isTyping =
      event.target instanceof HTMLElement && event.target.closest('input:not([type=radio]), textarea');
    const isSlash = event.key === '/' && !isTyping && !event.ctrlKey && !event.metaKey && !event.altKey;
    const isCommand = event.key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey);
    if (!isSlash && !isCommand) return;
    event.preventDefault();
    open();
  });
}

/** The index is made in the browser, of texts that are loaded when somebody searches for the first time. */
function createDialog(): () => void {
  const dialog = document.createElement('dialog');
  dialog.className = 'search';
  dialog.setAttribute('aria-label', 'Search the documentation');
  dialog.innerHTML = `<input class="input" type="search" placeholder="Search the documentation"
    aria-label="Search the documentation" autocomplete="off" spellcheck="false">
    <p class="search-state" role="status"></p><ul></ul>`;
  const [input, state, list] = [
    dialog.querySelector('input'),
    dialog.querySelector('p'),
    dialog.querySelector('ul'),
  ];
  if (input === null || state === null || list === null) throw new Error('The search lacks a part');
  document.body.append(dialog);

  let index: Promise<MiniSearch<Entry>> | undefined;
  const search = async (): Promise<void> => {
    const query = input.value.trim();
    try {
      index ??= loadIndex();
      const found = (await index).search(query).slice(0, SHOWN) as unknown as Entry[];
      if (query !== input.value.trim()) return;
      list.replaceChildren(...found.map((entry) => resultOf(entry, query)));
      state.textContent = stateOf(query, found.length);
    } catch {
      index = undefined;
      list.replaceChildren();
      state.textContent = 'The search could not be loaded. Is there a connection?';
    }
  };
  input.addEventListener('input', () => void search());
  let times = 0;
  /** A fast typist presses Enter before the texts are loaded. */
  const openFirst = async (): Promise<void> => {
    const time = times;
    await search();
    // Unless the dialog was closed meanwhile, even if it is open again.
    if (dialog.open && time === times) list.querySelector('a')?.click();
  };
  const close = (): void => {
    // Chromium leaves the focus in a closed dialog until the next frame: a `/` before it would seem to be typed there.
    input.blur();
    dialog.close();
  };
  dialog.addEventListener('keydown', (event) => {
    const stops = [input, ...list.querySelectorAll('a')];
    const at = stops.findIndex((stop) => stop === document.activeElement);
    // Not left to the browser: some only empty the field, and a late request to close would hit a dialog opened since.
    if (event.key === 'Escape') close();
    else if (event.key === 'ArrowDown') stops[at + 1]?.focus();
    else if (event.key === 'ArrowUp') stops[at - 1]?.focus();
    else if (event.key === 'Enter' && at === 0) void openFirst();
    else return;
    event.preventDefault();
  });
  dialog.addEventListener('click', (event) => {
    // Beside the dialog, or on a result, which may lead to a place on this page.
    if (event.target === dialog || (event.target as Element).closest('a') !== null) close();
  });
  return () => {
    if (dialog.open) return;
    times += 1;
    dialog.showModal();
    input.select();
    void search();
  };
}

function stateOf(query: string, found: number): string {
  if (query === '') return 'For example: upload, webhook, no_face_detected';
  return found === 0 ? `Nothing about “${query}”` : '';
}

async function loadIndex(): Promise<MiniSearch<Entry>> {
  const response = await fetch('/docs/search.json');
  if (!response.ok) throw new Error(String(response.status));
  const index = new MiniSearch<Entry>({
    fields: ['heading', 'page', 'text'],
    storeFields: ['page', 'heading', 'text'],
    searchOptions: { boost: { heading: 4, page: 2 }, prefix: true, fuzzy: 0.15, combineWith: 'AND' },
  });
  index.addAll((await response.json()) as Entry[]);
  return index;
}

function resultOf({ id, page, heading, text }: Entry, query: string): HTMLElement {
  const item = document.createElement('li');
  const link = document.createElement('a');
  link.href = id;
  const title = document.createElement('b');
  title.textContent = heading === '' ? page : heading;
  const place = document.createElement('span');
  place.textContent = page;
  const excerpt = document.createElement('p');
  excerpt.append(...marked(excerptOf(text, query), query));
  link.append(title, ...(heading === '' ? [] : [place]), excerpt);
  item.append(link);
  return item;
}

const wordsOf = (query: string): string[] => query.toLowerCase().split(/\s+/).filter(Boolean);

/** About 140 characters, in whole words, around the first word of the query that the text has. */
function excerptOf(text: string, query: string): string {
  const places = wordsOf(query).map((word) => text.toLowerCase().indexOf(word));
  const at = places.find((place) => place >= 0) ?? 0;
  const from = at < 60 ? 0 : text.indexOf(' ', at - 50) + 1;
  const rest = text.slice(from);
  const shown = rest.length <= 140 ? rest : `${rest.slice(0, 140).replace(/\s\S*$/, '')} …`;
  return `${from > 0 ? '… ' : ''}${shown}`;
}

function marked(text: string, query: string): (string | HTMLElement)[] {
  // Only these: with `u`, an expression that escapes another character is an error.
  const words = wordsOf(query).map((word) => word.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&'));
  if (words.length === 0) return [text];
  return text.split(new RegExp(`(${words.join('|')})`, 'giu')).map((piece, i) => {
    if (i % 2 === 0) return piece;
    const mark = document.createElement('mark');
    mark.textContent = piece;
    return mark;
  });
}
