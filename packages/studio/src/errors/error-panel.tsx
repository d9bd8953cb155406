import './error-panel.css';
import { type ComponentChildren, type JSX } from 'preact';
import { Icon } from '../shared/icons';
import { type Failure } from './failure';

interface ErrorPanelProps {
  readonly failure: Failure;
  /** Buttons. */
  readonly children?: ComponentChildren;
}

/** What went wrong, what to do, and what an operator asks for. */
export function ErrorPanel({ failure, children }: ErrorPanelProps): JSX.Element {
  const { title, hint, code, requestId, message } = failure;
  return (
    <div class="error-panel" role="alert">
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
