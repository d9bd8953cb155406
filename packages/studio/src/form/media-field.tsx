import './media-field.css';
import { CONTENT_TYPE_BY_EXTENSION, CONTENT_TYPES, type MediaType } from '@lipsync/client';
import { type ComponentChildren, type JSX } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { ErrorPanel } from '../errors/error-panel';
import { type Failure } from '../errors/failure';
import { Problem } from '../errors/problem';
import { Icon, type IconName } from '../shared/icons';
import { type Choice } from './choice';

interface MediaFieldProps {
  readonly mediaType: MediaType;
  readonly title: string;
  readonly icon: IconName;
  readonly formats: string;
  readonly choice: Choice | null;
  /** What is wrong with the choice or with what was dropped, once that is to be shown. */
  readonly problem: string | null;
  readonly failure: Failure | null;
  readonly onFiles: (files: readonly File[]) => void;
  readonly onUrl: (url: string) => void;
  readonly onClear: () => void;
  /** The chosen file. */
  readonly preview: ComponentChildren;
  /** More ways to choose: buttons. */
  readonly actions?: ComponentChildren;
  /** In place of the field, for instance while recording. */
  readonly instead?: ComponentChildren;
}

/** Types and extensions: not every system knows the type of every file. */
const accepted = (mediaType: MediaType): string =>
  [
    ...[...CONTENT_TYPES[mediaType], `${mediaType}/*`],
    ...Object.keys(CONTENT_TYPE_BY_EXTENSION[mediaType]).map((extension) => `.${extension}`),
  ].join(',');

/** A card to drop a file on, to choose one, or to enter its URL. */
export function MediaField(props: MediaFieldProps): JSX.Element {
  const { mediaType, title, icon, formats, choice, problem, onUrl, onClear, preview, actions } = props;
  const [over, setOver] = useState(false);
  const [asUrl, setAsUrl] = useState(choice?.kind === 'url');
  const input = useRef<HTMLInputElement>(null);
  const heading = useId();
  const problemId = useId();
  const entersUrl = asUrl && (choice === null || choice.kind === 'url');
  const body =
    props.instead ??
    (choice !== null && choice.kind !== 'url' ? (
      preview
    ) : entersUrl ? (
      <UrlField
        mediaType={mediaType}
        url={choice?.kind === 'url' ? choice.url : ''}
        problem={problem}
        onUrl={onUrl}
        onBack={() => {
          setAsUrl(false);
          onClear();
        }}
      />
    ) : (
      <div class="media-drop">
        <span class="media-mark">
          <Icon name={icon} size={26} />
        </span>
        <p class="media-lead">
          Drop {mediaType === 'video' ? 'a video' : 'a voice'} here, or{' '}
          <button
            type="button"
            class="media-browse"
            aria-describedby={problemId}
            onClick={() => input.current?.click()}
          >
            choose a file
          </button>
        </p>
        <p class="soft small">{formats}</p>
        <div class="media-actions">
          {actions}
          <button type="button" class="button" onClick={() => setAsUrl(true)}>
            <Icon name="link" size={16} />
            Use a URL
          </button>
        </div>
      </div>
    ));

  return (
    <section
      class="media card"
      data-media={mediaType}
      data-part={mediaType === 'video' ? 'video' : 'voice'}
      data-over={over}
      aria-labelledby={heading}
      onDragOver={() => setOver(true)}
      onDragLeave={(event) => {
        if (!(event.relatedTarget instanceof Node && event.currentTarget.contains(event.relatedTarget)))
          setOver(false);
      }}
      onDrop={() => setOver(false)}
    >
      <header>
        <h2 id={heading}>{title}</h2>
        {choice !== null && choice.kind !== 'url' && props.instead === undefined && (
          <button type="button" class="button button-quiet" aria-describedby={problemId} onClick={onClear}>
            Choose another
          </button>
        )}
      </header>
      <input
        ref={input}
        type="file"
        class="hidden-label"
        tabIndex={-1}
        aria-label={`${title} file`}
        accept={accepted(mediaType)}
        onChange={(event) => {
          props.onFiles([...(event.currentTarget.files ?? [])]);
          event.currentTarget.value = '';
        }}
      />
      {body}
      <Problem id={problemId} text={entersUrl ? null : problem} />
      {props.failure !== null && <ErrorPanel failure={props.failure} focus />}
    </section>
  );
}

interface UrlFieldProps {
  mediaType: MediaType;
  url: string;
  problem: string | null;
  onUrl: (url: string) => void;
  onBack: () => void;
}

function UrlField({ mediaType, url, problem, onUrl, onBack }: UrlFieldProps): JSX.Element {
  const id = useId();
  const field = useRef<HTMLInputElement>(null);
  // Before the next key, which would otherwise be lost.
  useLayoutEffect(() => field.current?.focus(), []);
  return (
    <div class="media-url field">
      <label for={id}>Address of the {mediaType === 'video' ? 'video' : 'voice'}</label>
      <input
        ref={field}
        id={id}
        class="input"
        type="url"
        inputMode="url"
        placeholder={mediaType === 'video' ? 'https://example.com/face.mp4' : 'https://example.com/voice.wav'}
        value={url}
        aria-invalid={problem !== null}
        aria-describedby={`${id}-hint`}
        onInput={(event) => onUrl(event.currentTarget.value.trim())}
      />
      <p id={`${id}-hint`} class={problem === null ? 'soft small' : 'problem'}>
        {problem !== null && <Icon name="warning" size={16} />}
        {problem ??
          'The service downloads it, without showing it here: it must be public, and lead to the file itself.'}
      </p>
      <div>
        <button type="button" class="button button-quiet" onClick={onBack}>
          Use a file instead
        </button>
      </div>
    </div>
  );
}
