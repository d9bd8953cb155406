/** Marks the part that is being read: the last whose heading has passed the upper third of the window. */
export function followReading(): void {
  const links = [...document.querySelectorAll<HTMLAnchorElement>('.contents a, .pages ul ul a')];
  const parts = links.flatMap((link) => {
    const heading = document.getElementById(decodeURIComponent(link.hash.slice(1)));
    return heading === null ? [] : [{ link, heading }];
  });
  if (parts.length === 0) return;
  const mark = (): void => {
    const passed = parts.filter(({ heading }) => heading.getBoundingClientRect().top < innerHeight / 3);
    for (const { link } of parts) link.removeAttribute('aria-current');
    passed.at(-1)?.link.setAttribute('aria-current', 'location');
  };
  document.addEventListener('scroll', mark, { passive: true });
  mark();
}
