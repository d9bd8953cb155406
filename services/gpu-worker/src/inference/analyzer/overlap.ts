import { type Box } from '@lipsync/kernels';

export function boxArea({ x1, y1, x2, y2 }: Box): number {
  return Math.max(0, x2 - x1) * Math.max(0, y2 - y1);
}

/** Intersection over union, 0..1. */
export function overlap(a: Box, b: Box): number {
  const common = boxArea({
    x1: Math.max(a.x1, b.x1),
    y1: Math.max(a.y1, b.y1),
    x2: Math.min(a.x2, b.x2),
    y2: Math.min(a.y2, b.y2),
  });
  const union = boxArea(a) + boxArea(b) - common;
  return union > 0 ? common / union : 0;
}
