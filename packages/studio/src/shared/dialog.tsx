import './dialog.css';
import { type ComponentChildren, type JSX } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Icon } from './icons';

interface DialogProps {
  readonly title: string;
  /** Closes it, as Escape does. */
  readonly closeKey?: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A modal dialog. The browser keeps the focus inside, and gives it back to where it was. */
export function Dialog({ title, closeKey, onClose, children }: DialogProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    dialog.current?.showModal();
    // On the document, because a click on a text leaves the focus nowhere.
    const onKey = ({ key }: KeyboardEvent): void => {
      if (key === closeKey) dialog.current?.close();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  return (
    <dialog
      ref={dialog}
      class="dialog"
      aria-labelledby={heading}
      onClose={onClose}
      onClick={(event) => {
        // The backdrop belongs to the dialog itself; its content lies in the element below.
        if (event.target === dialog.current) dialog.current?.close();
      }}
    >
      <div class="dialog-content">
        <header>
          <h2 id={heading}>{title}</h2>
          <button
            type="button"
            class="button button-quiet button-icon"
            aria-label="Close"
            onClick={() => dialog.current?.close()}
          >
            <Icon name="close" />
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}
