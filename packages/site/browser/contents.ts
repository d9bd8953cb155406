/** Shows in the lists of links which page this is, and which part of it is being read. */
export function followReading(): void {
  const page = document.querySelector<HTMLElement>('.pages [aria-current=page]');
  if (page !== null) show(page);
  for (const list of document.querySelectorAll('.contents, .pages ul ul')) followIn(list);
}

/** Below the header, and where a link to a heading brings it. In pixels. */
const READING_FROM = 130;

/** Marks the last link whose heading has passed that line. */
function followIn(list: Element): void {
  const parts = [...list.querySelectorAll('a')].flatMap((link) => {
    const heading = document.getElementById(decodeURIComponent(link.hash.slice(1)));
    return heading === null ? [] : [{ link, heading }];
  });
  const mark = (): void => {
    const passed = parts.filter(({ heading }) => heading.getBoundingClientRect().top < READING_FROM);
    for (const { link } of parts) link.removeAttribute('aria-current');
    const link = passed.at(-1)?.link;
    link?.setAttribute('aria-current', 'location');
    if (link !== undefined) show(link);
  };
  document.addEventListener('scroll', mark, { passive: true });
  mark();
}

/** Scrolls a list of links, and nothing else, so that this one can be seen. */
function show(link: HTMLElement): void {
  const list = link.closest<HTMLElement>('nav');
  if (list === null) return;
  const [inside, outside] = [link.getBoundingClientRect(), list.getBoundingClientRect()];
  if (inside.top < outside.top || inside.bottom > outside.bottom)
    list.scrollTop += inside.top - outside.top - outside.height / 2;
}
