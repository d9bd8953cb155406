import { type JSX } from 'preact';

const TEXTS: Readonly<Record<string, string>> = {
  accepted: 'Waiting',
  processing: 'Rendering',
  completed: 'Completed',
  failed: 'Failed',
  cancelled: 'Cancelled',
  gone: 'No longer kept',
};

/** The statuses of a render. A newer service may have others, which are shown as they are. */
export function statusText(status: string, percent?: number): string {
  const text = TEXTS[status] ?? status;
  return status === 'processing' && percent !== undefined ? `${text} ${percent}%` : text;
}

interface StatusProps {
  readonly status: string;
  readonly percent?: number | undefined;
}

export function StatusChip({ status, percent }: StatusProps): JSX.Element {
  return (
    <span class="chip number" data-status={status}>
      {statusText(status, percent)}
    </span>
  );
}
