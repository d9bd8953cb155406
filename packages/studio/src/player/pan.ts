import { type RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { pan, type View, WHOLE, zoomAt } from './zoom';

/**
 * Moves and zooms the pictures: a drag (while zoomed, so that a finger scrolls the page otherwise), a pinch of two
 * fingers or of a trackpad, a double click.
 */
export function usePan(
  frame: RefObject<HTMLElement | null>,
  picture: RefObject<HTMLElement | null>,
  view: View,
  onView: (view: View) => void,
): void {
  // The listeners are added once; a wheel listener that may prevent the default cannot be passive.
  const now = useRef({ view, onView });
  now.current = { view, onView };
  useEffect(() => {
    const element = frame.current;
    if (element === null) return undefined;
    const pointers = new Map<number, PointerEvent>();
    const change = (next: View): void => {
      now.current.view = next;
      now.current.onView(next);
    };
    // The picture as it lies in its frame, which may be wider; its box does not know that it is zoomed.
    const fraction = (x: number, y: number): { x: number; y: number } => {
      const { left, top } = element.getBoundingClientRect();
      const { offsetLeft, offsetTop, offsetWidth, offsetHeight } = picture.current ?? element;
      return { x: (x - left - offsetLeft) / offsetWidth, y: (y - top - offsetTop) / offsetHeight };
    };

    const onDown = (event: PointerEvent): void => {
      pointers.set(event.pointerId, event);
      if (now.current.view.scale > 1) element.setPointerCapture(event.pointerId);
    };
    const onMove = (event: PointerEvent): void => {
      const before = pointers.get(event.pointerId);
      if (before === undefined) return;
      const [other] = [...pointers.values()].filter(({ pointerId }) => pointerId !== event.pointerId);
      pointers.set(event.pointerId, event);
      const from = fraction(before.clientX, before.clientY);
      const to = fraction(event.clientX, event.clientY);
      if (other === undefined) {
        if (now.current.view.scale > 1) change(pan(now.current.view, to.x - from.x, to.y - from.y));
        return;
      }
      const distance = (a: PointerEvent): number =>
        Math.hypot(a.clientX - other.clientX, a.clientY - other.clientY);
      const middle = fraction((event.clientX + other.clientX) / 2, (event.clientY + other.clientY) / 2);
      change(zoomAt(now.current.view, distance(event) / Math.max(1, distance(before)), middle));
    };
    const onUp = (event: PointerEvent): void => {
      pointers.delete(event.pointerId);
    };
    const onWheel = (event: WheelEvent): void => {
      // A pinch on a trackpad comes as a wheel with Ctrl; a plain wheel scrolls the page.
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const point = fraction(event.clientX, event.clientY);
      change(zoomAt(now.current.view, Math.exp(-event.deltaY / 200), point));
    };
    const onDoubleClick = (event: MouseEvent): void => {
      const point = fraction(event.clientX, event.clientY);
      change(now.current.view.scale > 1 ? WHOLE : zoomAt(now.current.view, 3, point));
    };

    element.addEventListener('pointerdown', onDown);
    element.addEventListener('pointermove', onMove);
    for (const end of ['pointerup', 'pointercancel', 'pointerleave'] as const)
      element.addEventListener(end, onUp);
    element.addEventListener('wheel', onWheel, { passive: false });
    element.addEventListener('dblclick', onDoubleClick);
    return () => {
      element.removeEventListener('pointerdown', onDown);
      element.removeEventListener('pointermove', onMove);
      for (const end of ['pointerup', 'pointercancel', 'pointerleave'] as const)
        element.removeEventListener(end, onUp);
      element.removeEventListener('wheel', onWheel);
      element.removeEventListener('dblclick', onDoubleClick);
    };
  }, [frame]);
}
