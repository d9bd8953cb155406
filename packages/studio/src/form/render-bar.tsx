import './render-bar.css';
import { type JSX } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { ErrorPanel } from '../errors/error-panel';
import { type Failure } from '../errors/failure';
import { Icon } from '../shared/icons';
import { type Sending, UploadPanel } from './upload-panel';

interface RenderBarProps {
  readonly summary: string;
  /** What is left to do, once somebody has tried. */
  readonly remedy: string | null;
  /** What went wrong, of nothing else in the form. */
  readonly failure: Failure | null;
  /** It waits for the connection; null if it does not. */
  readonly waiting: { readonly cancel: () => void } | null;
  /** The upload under way. */
  readonly sending: Sending | null;
}

/** Stays in sight, with the button and what came of pressing it. */
export function RenderBar({ summary, remedy, failure, waiting, sending }: RenderBarProps): JSX.Element {
  const bar = useRef<HTMLDivElement>(null);
  useScrollPadding(bar);
  return (
    <div ref={bar} class="render-bar">
      {failure !== null && <ErrorPanel failure={failure} focus />}
      {sending !== null ? (
        <UploadPanel sending={sending} />
      ) : waiting !== null ? (
        <>
          <p role="status">It starts as soon as the service can be reached.</p>
          <button type="button" class="button" onClick={waiting.cancel}>
            Cancel
          </button>
        </>
      ) : (
        <>
          <p class={remedy === null ? 'soft small' : 'problem'}>
            {remedy !== null && <Icon name="warning" size={16} />}
            {remedy ?? summary}
          </p>
          <button type="submit" class="button button-primary button-large">
            Render
            <Icon name="arrow" />
          </button>
        </>
      )}
    </div>
  );
}

/** What gets the focus is scrolled to where the bar does not hide it, however high the bar is (WCAG 2.2, 2.4.11). */
function useScrollPadding(bar: { readonly current: HTMLElement | null }): void {
  useLayoutEffect(() => {
    const { style } = document.documentElement;
    const observer = new ResizeObserver(() => {
      style.setProperty('--bar-height', `${bar.current?.offsetHeight ?? 0}px`);
    });
    if (bar.current !== null) observer.observe(bar.current);
    return () => {
      observer.disconnect();
      style.removeProperty('--bar-height');
    };
  }, []);
}
