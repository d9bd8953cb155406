/** A rectangle in picture pixels, edges at pixel borders: a whole picture is { x1: 0, y1: 0, x2: width, y2: height }. */
export interface Box {
  readonly x1: number;
  readonly y1: number;
  readonly x2: number;
  readonly y2: number;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}
