import { pan, transformOf, viewOf, WHOLE, withinPicture, zoomAt } from './zoom';

describe('zooming', () => {
  it('keeps the point under the pointer where it is', () => {
    const view = { scale: 2, x: 0.5, y: 0.5 };
    const pointer = { x: 0.75, y: 0.4 };
    const shown = (v: typeof view) => ({
      x: v.x + (pointer.x - 0.5) / v.scale,
      y: v.y + (pointer.y - 0.5) / v.scale,
    });
    expect(shown(zoomAt(view, 1.5, pointer)).x).toBeCloseTo(shown(view).x);
    expect(shown(zoomAt(view, 1.5, pointer)).y).toBeCloseTo(shown(view).y);
  });

  it('never shows what is beside the picture', () => {
    expect(withinPicture({ scale: 2, x: 0, y: 1 })).toEqual({ scale: 2, x: 0.25, y: 0.75 });
    expect(pan({ scale: 2, x: 0.5, y: 0.5 }, -10, 10)).toEqual({ scale: 2, x: 0.75, y: 0.25 });
    expect(zoomAt({ scale: 2, x: 0.25, y: 0.5 }, 0.1, { x: 1, y: 0 })).toEqual(WHOLE);
  });

  it('puts a mouth into the middle, and shows the face around it in every shape', () => {
    const mouth = { x: 0.4, y: 0.6, width: 0.1, height: 0.05 };
    const wide = viewOf(mouth, 16 / 9);
    expect(wide.x).toBeCloseTo(0.45);
    expect(wide.y).toBeCloseTo(0.625);
    // What is to be seen, in widths of the mouth.
    expect(1 / wide.scale / (mouth.width * (16 / 9))).toBeCloseTo(1.7);
    expect(1 / viewOf(mouth, 9 / 16).scale / mouth.width).toBeCloseTo(2.2);
  });

  it('is a transform around the middle of the frame', () => {
    expect(transformOf(WHOLE)).toBe('none');
    expect(transformOf({ scale: 2, x: 0.75, y: 0.5 })).toBe('translate(-50.000%, 0.000%) scale(2.0000)');
  });
});
