import { type JSX } from 'preact';
import { useRef } from 'preact/hooks';

interface WipeProps {
  /** Where the line is, as a fraction of the width. */
  readonly split: number;
  readonly onChange: (split: number) => void;
}

/** The line between two pictures: dragged, or moved with the arrow keys. */
export function WipeHandle({ split, onChange }: WipeProps): JSX.Element {
  const line = useRef<HTMLDivElement>(null);
  const move = (to: number): void => onChange(Math.min(1, Math.max(0, to)));
  const onPointer = (event: PointerEvent): void => {
    const box = line.current?.parentElement?.getBoundingClientRect();
    if (box === undefined || line.current?.hasPointerCapture(event.pointerId) !== true) return;
    move((event.clientX - box.left) / box.width);
  };
  return (
    <div class="wipe-area">
      <div
        ref={line}
        class="wipe"
        role="slider"
        tabIndex={0}
        data-own-keys
        aria-label="Wipe"
        aria-orientation="horizontal"
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.round(split * 100)}
        aria-valuetext={`${Math.round(split * 100)} percent from the left`}
        onPointerDown={(event) => line.current?.setPointerCapture(event.pointerId)}
        onPointerMove={onPointer}
        onKeyDown={(event) => {
          const to = WIPE_KEYS[event.key]?.(split, event.shiftKey ? 0.1 : 0.02);
          if (to === undefined) return;
          event.preventDefault();
          move(to);
        }}
      >
        <span class="wipe-grip" aria-hidden="true" />
      </div>
    </div>
  );
}

const WIPE_KEYS: Readonly<Record<string, (split: number, by: number) => number>> = {
  ArrowLeft: (split, by) => split - by,
  ArrowDown: (split, by) => split - by,
  ArrowRight: (split, by) => split + by,
  ArrowUp: (split, by) => split + by,
  Home: () => 0,
  End: () => 1,
};
