import { type JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Icon } from '../shared/icons';
import { COPY_FORMS, copyAs, type CopyForm, type RenderToCopy } from './copy-as';

const NAMES: Readonly<Record<CopyForm, string>> = {
  command: 'Command',
  TypeScript: 'TypeScript',
  Python: 'Python',
  curl: 'curl',
  agent: 'Agent',
};

/** This render, to be repeated without this page. */
export function CopyPanel({ render }: { render: RenderToCopy }): JSX.Element {
  const [form, setForm] = useState<CopyForm>('command');
  const [outcome, setOutcome] = useState<'Copied' | 'Not copied' | null>(null);
  const text = copyAs(form, render);
  const copy = async (): Promise<void> => {
    setOutcome(
      await navigator.clipboard.writeText(text).then(
        () => 'Copied',
        () => 'Not copied',
      ),
    );
    setTimeout(() => setOutcome(null), 2000);
  };
  return (
    <section class="copy card" aria-labelledby="copy-heading">
      <header>
        <h2 id="copy-heading">The same in code</h2>
        <div class="segments" role="group" aria-label="Language">
          {COPY_FORMS.map((name) => (
            <button key={name} type="button" aria-pressed={form === name} onClick={() => setForm(name)}>
              {NAMES[name]}
            </button>
          ))}
        </div>
        <button type="button" class="button" onClick={() => void copy()}>
          <Icon name={outcome === 'Copied' ? 'check' : 'copy'} size={16} />
          <span role="status">{outcome ?? 'Copy'}</span>
        </button>
      </header>
      <p class="small soft">
        Your key is not copied: set <code>LIPSYNC_API_KEY</code>
        {form === 'command' && (
          <>
            , or log in with <code>lipsync login</code>
          </>
        )}
        .
      </p>
      <pre
        tabIndex={0}
        role="region"
        aria-label={form === 'agent' ? 'Text for an agent' : `${NAMES[form]} source`}
      >
        <code>{text}</code>
      </pre>
    </section>
  );
}
