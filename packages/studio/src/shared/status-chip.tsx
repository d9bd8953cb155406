import { type JSX } from 'preact';

const TEXTS: Readonly<Record<string, string>> = {
  accepted: 'Waiting',
  processing: 'Rendering',
  completed: 'Completed',
  failed: 'Failed',
  cancelled: 'Cancelled',
  gone: 'No longer kept',
};

interface StatusProps {
  /** Of a render. A newer service may have others, which are shown as they are. */
  readonly status: string;
  readonly percent?: number | undefined;
}

export function StatusChip({ status, percent }: StatusProps): JSX.Element {
  return (
    <span class="chip number" data-status={status}>
      {TEXTS[status] ?? status}
      {status === 'processing' && percent !== undefined && ` ${percent} %`}
    </span>
  );
}
