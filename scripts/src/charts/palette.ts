/** Distinguishable with most kinds of colour blindness, after Okabe and Ito; darkened for lines on white. */
export const COLOURS = {
  blue: '#1f6fb5',
  orange: '#d17c00',
  green: '#00845f',
  red: '#c8401a',
  purple: '#9b4f8e',
  sky: '#3b9fd8',
  olive: '#8a8300',
  grey: '#6b7684',
} as const;

const ORDER = [
  COLOURS.blue,
  COLOURS.orange,
  COLOURS.green,
  COLOURS.purple,
  COLOURS.sky,
  COLOURS.red,
  COLOURS.olive,
  COLOURS.grey,
  // The colours of Tol's muted scheme that differ from those above, for charts with many lines.
  ...['#332288', '#44aa99', '#882255', '#ddcc77', '#cc6677', '#88ccee'],
];

export function colourAt(index: number): string {
  return ORDER[index % ORDER.length] ?? COLOURS.grey;
}
