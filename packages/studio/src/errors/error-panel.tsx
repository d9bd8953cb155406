import './error-panel.css';
import { type ComponentChildren, type JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Icon } from '../shared/icons';
import { type Failure } from './failure';

interface ErrorPanelProps {
  readonly failure: Failure;
  /** It answers what the user has just done: it takes the focus, and is scrolled to. */
  readonly focus?: boolean;
  /** Buttons. */
  readonly children?: ComponentChildren;
}

/** What went wrong, what to do, and what an operator asks for. */
export function ErrorPanel({ failure, focus = false, children }: ErrorPanelProps): JSX.Element {
  const { title, hint, code, requestId, message } = failure;
  const panel = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (focus) panel.current?.focus();
  }, [failure]);
  return (
    <div ref={panel} class="error-panel" role="alert" tabIndex={-1}>
      <span class="error-mark">
        <Icon name="warning" size={20} />
      </span>
      <div>
        <h2>{title}</h2>
        <p>{hint}</p>
        {(code ?? requestId ?? message) !== undefined && (
          <p class="error-facts small">
            {code !== undefined && <code>{code}</code>}
            {requestId !== undefined && (
              <span>
                request <code>{requestId}</code>
              </span>
            )}
            {message !== undefined && <span>{message}</span>}
          </p>
        )}
        {children !== undefined && <div class="error-actions">{children}</div>}
      </div>
    </div>
  );
}
