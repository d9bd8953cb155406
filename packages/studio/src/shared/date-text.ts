const FORMAT = new Intl.DateTimeFormat(undefined, {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
});

/** “Nov 27, 16:40”, as this browser's user writes it. */
export function dateText(time: string): string {
  return FORMAT.format(new Date(time));
}
