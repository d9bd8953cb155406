import { type JSX } from 'preact';

/** Paths of 24 × 24 outlines. */
const PATHS = {
  play: 'M7 4.5v15l12-7.5Z',
  pause: 'M8 5v14M16 5v14',
  first: 'M18 6l-8 6 8 6ZM6 6v12',
  last: 'M6 6l8 6-8 6ZM18 6v12',
  previous: 'M14.5 6l-6 6 6 6',
  next: 'M9.5 6l6 6-6 6',
  repeat:
    'M17 2.5L20.5 6 17 9.5M20.5 6H8a4.5 4.5 0 0 0-4.5 4.5V12M7 21.5L3.5 18 7 14.5M3.5 18H16a4.5 4.5 0 0 0 4.5-4.5V12',
  sound: 'M4 9.5v5h3.5l4.5 4v-13l-4.5 4ZM15.5 9a4 4 0 0 1 0 6M18 6.5a8 8 0 0 1 0 11',
  silent: 'M4 9.5v5h3.5l4.5 4v-13l-4.5 4ZM16 9.5l5 5M21 9.5l-5 5',
  download: 'M12 4v11M7.5 11l4.5 4.5 4.5-4.5M5 19.5h14',
  copy: 'M9 9h10.5v10.5H9ZM15 9V4.5H4.5V15H9',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  close: 'M6 6l12 12M18 6L6 18',
  grid: 'M4 5h7v14H4ZM13.5 5h7v14h-7Z',
  wipe: 'M4 5h16.5v14H4ZM12 2.5v19M15 12h3M6 12h3',
  mouth:
    'M3 12c3-3.3 5.5-5 7.4-5 .7 0 1.2.2 1.6.6.4-.4.9-.6 1.6-.6 1.9 0 4.4 1.7 7.4 5-3 3.6-6 5.4-9 5.4S6 15.6 3 12ZM6.5 12h11',
  plus: 'M12 5v14M5 12h14',
  minus: 'M5 12h14',
  reset: 'M4 9V4.5h4.5M20 9V4.5h-4.5M4 15v4.5h4.5M20 15v4.5h-4.5',
  film: 'M4 5h16v14H4ZM8.5 5v14M15.5 5v14M4 9.7h4.5M4 14.3h4.5M15.5 9.7H20M15.5 14.3H20',
  voice: 'M4 10v4M8 7v10M12 4v16M16 8v8M20 10.5v3',
  microphone:
    'M12 3.5a3 3 0 0 1 3 3V11a3 3 0 0 1-6 0V6.5a3 3 0 0 1 3-3ZM5.5 11a6.5 6.5 0 0 0 13 0M12 17.5V21',
  link: 'M10 14a4 4 0 0 0 5.7 0l3-3A4 4 0 0 0 13 5.3l-1 1M14 10a4 4 0 0 0-5.7 0l-3 3A4 4 0 0 0 11 18.7l1-1',
  key: 'M8 8a4 4 0 1 0 .01 0M12 12h9M17.5 12v3.5',
  sun: 'M12 8a4 4 0 1 0 .01 0M12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.4 1.4M17.3 17.3l1.4 1.4M18.7 5.3l-1.4 1.4M6.7 17.3l-1.4 1.4',
  moon: 'M19.5 14.5A8 8 0 0 1 9.5 4.5a8 8 0 1 0 10 10Z',
  auto: 'M3.5 5h17v11h-17ZM9 20h6M12 16v4',
  warning: 'M12 3.5L21.5 20h-19ZM12 10v4.5M12 17.2v.2',
  keyboard: 'M3 6.5h18v11H3ZM6.5 10h.1M10 10h.1M13.5 10h.1M17 10h.1M8 14h8',
  trash: 'M4.5 7h15M9.5 7V4.5h5V7M6.5 7l1 12.5h9l1-12.5',
  arrow: 'M5 12h14M13 6l6 6-6 6',
  down: 'M6 9.5l6 6 6-6',
  shield: 'M12 3.5l7 2.5v5.5c0 4.2-2.9 7.4-7 9-4.1-1.6-7-4.8-7-9V6Z',
} as const;

export type IconName = keyof typeof PATHS;

/** A picture beside a text, or in a button with a label: it says nothing to a screen reader. */
export function Icon({ name, size = 18 }: { name: IconName; size?: number }): JSX.Element {
  const isSolid = name === 'play' || name === 'first' || name === 'last';
  return (
    <svg
      class={isSolid ? 'icon icon-solid' : 'icon'}
      width={size}
      height={size}
      viewBox="0 0 24 24"
      aria-hidden="true"
      focusable="false"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
