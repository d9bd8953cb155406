import { type MediaType } from '@lipsync/client';
import { type JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Meter } from '../shared/meter';
import { formatBytes } from './media-limits';

/** Bytes on their way, by medium. */
export interface Sending {
  readonly uploads: Readonly<Partial<Record<MediaType, { readonly sent: number; readonly total: number }>>>;
  /** Null once the render is being created: its own page can cancel it. */
  readonly cancel: (() => void) | null;
}

const NAMES: Readonly<Record<MediaType, string>> = { video: 'Video', audio: 'Voice' };

export function UploadPanel({ sending: { uploads, cancel } }: { sending: Sending }): JSX.Element {
  const media = (['video', 'audio'] as const).flatMap((mediaType) => {
    const upload = uploads[mediaType];
    return upload === undefined ? [] : [{ mediaType, ...upload }];
  });
  const done = media.every(({ sent, total }) => sent >= total);
  // It replaces the button that had the focus.
  const panel = useRef<HTMLDivElement>(null);
  useEffect(() => panel.current?.focus(), []);
  return (
    <div ref={panel} class="upload" tabIndex={-1}>
      <p class="hidden-label" role="status">
        {done ? 'Starting the render' : 'Uploading'}
      </p>
      <div class="upload-lines">
        {media.length === 0 && <p class="soft">Starting the render …</p>}
        {media.map(({ mediaType, sent, total }) => (
          <div key={mediaType} class="upload-line">
            <span>{NAMES[mediaType]}</span>
            <Meter value={total === 0 ? 0 : sent / total} label={`${NAMES[mediaType]} uploaded`} />
            <span class="soft small number">
              {sent >= total ? 'uploaded' : `${formatBytes(sent)} of ${formatBytes(total)}`}
            </span>
          </div>
        ))}
      </div>
      {cancel !== null && (
        <button type="button" class="button" onClick={cancel}>
          Cancel
        </button>
      )}
    </div>
  );
}
