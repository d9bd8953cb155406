/** Above this distance two faces do not belong to one motion. */
const LONGEST_STEP = 0.2;

/**
 * Says whether a face jumps between two frames, by HighSync's measure (https://github.com/saeed5959/high_sync):
 * (|Δx1|+|Δx2|)/W + (|Δy1|+|Δy2|)/H of its box above 0.2. `boxes` holds x1, y1, x2, y2 per frame.
 */
export function jumps(
  boxes: Float32Array,
  from: number,
  to: number,
  picture: { readonly width: number; readonly height: number },
): boolean {
  const moved = (side: number): number =>
    Math.abs((boxes[to * 4 + side] ?? 0) - (boxes[from * 4 + side] ?? 0));
  return (moved(0) + moved(2)) / picture.width + (moved(1) + moved(3)) / picture.height > LONGEST_STEP;
}
