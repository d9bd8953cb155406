/** Marks the part that is being read: the last whose heading has passed the upper third of the window. */
export function followReading(): void {
  const page = document.querySelector<HTMLElement>('.pages [aria-current=page]');
  if (page !== null) show(page);
  const links = [...document.querySelectorAll<HTMLAnchorElement>('.contents a, .pages ul ul a')];
  const parts = links.flatMap((link) => {
    const heading = document.getElementById(decodeURIComponent(link.hash.slice(1)));
    return heading === null ? [] : [{ link, heading }];
  });
  if (parts.length === 0) return;
  const mark = (): void => {
    const passed = parts.filter(({ heading }) => heading.getBoundingClientRect().top < innerHeight / 3);
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
