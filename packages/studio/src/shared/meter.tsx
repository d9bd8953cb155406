import { type JSX } from 'preact';

interface MeterProps {
  /** 0 to 1. */
  readonly value: number;
  readonly label: string;
  /** The name of a custom property. */
  readonly color?: string;
}

export function Meter({ value, label, color }: MeterProps): JSX.Element {
  const percent = Math.round(Math.min(1, Math.max(0, value)) * 100);
  return (
    <div
      class="meter"
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={percent}
      style={color === undefined ? {} : { '--color': `var(${color}, var(--accent))` }}
    >
      <span style={{ transform: `scaleX(${value})` }} />
    </div>
  );
}
