import { type RefObject } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';

/** Lengths are CSS pixels. */
export interface Page {
  /** Of the window. */
  readonly window: number;
  /** From the top of the page to the pictures. */
  readonly above: number;
  /** From the top of the player to the pictures. */
  readonly bar: number;
  /** Of what follows the pictures and is always on screen: track and transport. */
  readonly foot: number;
}

interface Room {
  readonly width: number;
  readonly height: number;
}

export interface Arrangement {
  readonly columns: number;
  /** Of each picture. */
  readonly height: number;
}

/** Below this, pictures are too small to judge, and the page had better be scrolled. */
const ENOUGH = 260;
/** Narrower columns leave a name no room. */
const NARROWEST = 120;
const MARGIN = 12;
const GAP = 2;
/** Of the name below each picture. */
export const NAME_HEIGHT = 38;

/**
 * What is left for pictures while all of the player can be seen without scrolling; if that is too little, what is left
 * once the page is scrolled to the player.
 */
export function heightLeft({ window, above, bar, foot }: Page): number {
  const atOnce = window - above - foot - MARGIN;
  return atOnce >= ENOUGH ? atOnce : Math.max(ENOUGH, window - bar - foot);
}

/** The columns in which this many pictures of this shape (width by height), with a name below each, are largest. */
export function arrange(count: number, ratio: number, { width, height }: Room): Arrangement {
  const most = Math.max(1, Math.min(count, Math.floor((width + GAP) / (NARROWEST + GAP))));
  const arrangements = Array.from({ length: count }, (_, i): Arrangement => {
    const columns = Math.min(most, Math.ceil(count / (i + 1)));
    const rows = Math.ceil(count / columns);
    const heightOfOne = (height - GAP * (rows - 1)) / rows - NAME_HEIGHT;
    const widthOfOne = (width - GAP * (columns - 1)) / columns;
    return { columns, height: Math.max(0, Math.floor(Math.min(heightOfOne, widthOfOne / ratio))) };
  });
  return arrangements.reduce((best, next) => (next.height > best.height ? next : best));
}

/** The room for pictures as it is now, and whenever the window or what surrounds the pictures changes. */
export function useRoom(pictures: RefObject<HTMLElement | null>, foot: RefObject<HTMLElement | null>): Room {
  const [room, setRoom] = useState<Room>({ width: 0, height: 0 });
  useLayoutEffect(() => {
    const measure = (): void => {
      const box = pictures.current?.getBoundingClientRect();
      const player = pictures.current?.parentElement?.getBoundingClientRect();
      if (box === undefined || player === undefined) return;
      const height = heightLeft({
        window: innerHeight,
        above: box.top + scrollY,
        bar: box.top - player.top,
        foot: foot.current?.offsetHeight ?? 0,
      });
      setRoom((now) =>
        now.width === box.width && now.height === height ? now : { width: box.width, height },
      );
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
  return room;
}
