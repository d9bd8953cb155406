import { type JSX } from 'preact';
import { Dialog } from '../shared/dialog';
import { SHORTCUT_TEXTS } from './shortcuts';

export function Shortcuts({ onClose }: { onClose: () => void }): JSX.Element {
  return (
    <Dialog title="Keyboard shortcuts" closeKey="?" onClose={onClose}>
      <dl class="shortcuts">
        {SHORTCUT_TEXTS.map(([keys, text]) => (
          <div key={text}>
            <dt>
              {keys.map((key) => (key === '…' ? <span key={key}>…</span> : <kbd key={key}>{key}</kbd>))}
            </dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
