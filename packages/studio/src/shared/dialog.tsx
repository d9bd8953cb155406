import './dialog.css';
import { type ComponentChildren, type JSX } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
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
  const close = (): void => {
    dialog.current?.close();
    // Not when the browser tells of it: by then the key that opens it may have been pressed again.
    onClose();
  };
  // Before the next key, which would otherwise go to the page.
  useLayoutEffect(() => {
    dialog.current?.showModal();
    // On the document, because a click on a text leaves the focus nowhere.
    const onKey = (event: KeyboardEvent): void => {
      if (event.key !== 'Escape' && event.key !== closeKey) return;
      event.preventDefault();
      close();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
  return (
    <dialog
      ref={dialog}
      class="dialog"
      aria-labelledby={heading}
      onClose={() => {
        // Closed by the browser, as with a gesture to go back.
        if (dialog.current !== null) onClose();
      }}
      onClick={(event) => {
        // The backdrop belongs to the dialog itself; its content lies in the element below.
        if (event.target === dialog.current) close();
      }}
    >
      <div class="dialog-content">
        <header>
          <h2 id={heading}>{title}</h2>
          <button type="button" class="button button-quiet button-icon" aria-label="Close" onClick={close}>
            <Icon name="close" />
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}
