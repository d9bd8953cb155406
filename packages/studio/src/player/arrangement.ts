import { type RefObject } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';

/** Where there is room for pictures. Lengths are CSS pixels. */
export interface Page {
  /** The width of the pictures together. */
  readonly width: number;
  /** The height of the window. */
  readonly window: number;
  /** From the top of the page to the pictures. */
  readonly above: number;
  /** From the top of the player to the pictures. */
  readonly bar: number;
  /** The height of what follows the pictures and is always on screen: track and transport. */
  readonly foot: number;
}

export interface Arrangement {
  readonly columns: number;
  /** The height of each picture. */
  readonly height: number;
}

/** Pictures of this height can be judged; if they would be lower, the page may be scrolled for larger ones. */
const ENOUGH = 150;
/** What scrolling must gain. */
const GAIN = 1.3;
/** They are never lower for want of height. */
const LEAST = 48;
/** Narrower columns leave a name no room. */
const NARROWEST = 120;
const MARGIN = 12;
const GAP = 2;
/** The height of the name below each picture. */
export const NAME_HEIGHT = 38;

/**
 * How this many pictures of this shape (width by height) lie beside each other, so that all of the player can be seen
 * without scrolling; where that makes them small, once the page is scrolled to the player.
 */
export function arrange(count: number, ratio: number, page: Page): Arrangement {
  const { window, above, bar, foot } = page;
  const atOnce = largest(count, ratio, page.width, window - above - foot - MARGIN);
  if (atOnce.height >= ENOUGH) return atOnce;
  const scrolled = largest(count, ratio, page.width, window - bar - foot);
  return scrolled.height > GAIN * atOnce.height ? scrolled : atOnce;
}

/** The columns in which pictures are largest, with a name below each. */
function largest(count: number, ratio: number, width: number, height: number): Arrangement {
  const most = Math.max(1, Math.min(count, Math.floor((width + GAP) / (NARROWEST + GAP))));
  const arrangements = Array.from({ length: count }, (_, i): Arrangement => {
    const columns = Math.min(most, Math.ceil(count / (i + 1)));
    const rows = Math.ceil(count / columns);
    const heightOfOne = Math.max(LEAST, (height - GAP * (rows - 1)) / rows - NAME_HEIGHT);
    const widthOfOne = Math.max(0, (width - GAP * (columns - 1)) / columns);
    return { columns, height: Math.floor(Math.min(heightOfOne, widthOfOne / ratio)) };
  });
  return arrangements.reduce((best, next) => (next.height > best.height ? next : best));
}

/** The page as it is now, and whenever the window or what surrounds the pictures changes. */
export function usePage(pictures: RefObject<HTMLElement | null>, foot: RefObject<HTMLElement | null>): Page {
  const [page, setPage] = useState<Page>({ width: 0, window: 0, above: 0, bar: 0, foot: 0 });
  useLayoutEffect(() => {
    const measure = (): void => {
      const box = pictures.current?.getBoundingClientRect();
      const player = pictures.current?.parentElement?.getBoundingClientRect();
      if (box === undefined || player === undefined) return;
      const next = {
        width: box.width,
        window: innerHeight,
        above: box.top + scrollY,
        bar: box.top - player.top,
        foot: foot.current?.offsetHeight ?? 0,
      };
      setPage((now) => (isSame(now, next) ? now : next));
    };
    // The page's own height changes with whatever is shown above the player.
    const observer = new ResizeObserver(measure);
    observer.observe(document.body);
    addEventListener('resize', measure);
    measure();
    return () => {
      observer.disconnect();
      removeEventListener('resize', measure);
    };
  }, []);
  return page;
}

function isSame(a: Page, b: Page): boolean {
  return (Object.keys(a) as (keyof Page)[]).every((key) => Math.abs(a[key] - b[key]) < 0.5);
}
