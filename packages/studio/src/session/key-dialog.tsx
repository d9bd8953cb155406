import './key-dialog.css';
import { type JSX } from 'preact';
import { useId, useState } from 'preact/hooks';
import { Dialog } from '../shared/dialog';
import { Icon } from '../shared/icons';
import { keyProblem } from './check-key';

interface KeyDialogProps {
  /** Why the key is asked for, if not at the start: the former one was refused. */
  readonly refused: boolean;
  /** Resolves to null when the service accepts the key, otherwise to what is wrong. */
  readonly onKey: (key: string) => Promise<string | null>;
  readonly onClose: () => void;
}

/** Asks for the API key. The form behind it stays as it is. */
export function KeyDialog({ refused, onKey, onClose }: KeyDialogProps): JSX.Element {
  const [key, setKey] = useState('');
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const id = useId();

  const submit = async (): Promise<void> => {
    const entered = key.trim();
    const malformed = keyProblem(entered);
    setProblem(malformed);
    if (malformed !== null) return;
    setBusy(true);
    setProblem(await onKey(entered));
    setBusy(false);
  };

  return (
    <Dialog title={refused ? 'Your key was refused' : 'Sign in with your API key'} onClose={onClose}>
      <form
        class="key-form"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <p class="soft">
          {refused
            ? 'The service no longer accepts this key: it was revoked or replaced, or has ended. Everything you have chosen is still here. Sign in with another key to go on.'
            : 'The person who runs this service gives it to you. It stays in this tab and is forgotten when you close it.'}
        </p>
        <div class="field">
          <label for={id}>API key</label>
          <input
            id={id}
            class="input key-input"
            type="password"
            name="api-key"
            autoComplete="off"
            spellcheck={false}
            autoFocus
            placeholder="svc_…"
            value={key}
            aria-invalid={problem !== null}
            aria-describedby={`${id}-problem`}
            onInput={(event) => setKey(event.currentTarget.value)}
          />
          <p class="problem" id={`${id}-problem`} role="alert">
            {problem !== null && (
              <>
                <Icon name="warning" size={16} />
                {problem}
              </>
            )}
          </p>
        </div>
        <div class="dialog-actions">
          <a class="small" href="/docs/authentication" target="_blank">
            About keys
          </a>
          <button type="submit" class="button button-primary" disabled={busy}>
            {busy ? 'Checking …' : 'Sign in'}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
