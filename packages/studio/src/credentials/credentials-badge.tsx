import './credentials-badge.css';
import { type Credentials } from '@lipsync/credentials-reader';
import { type JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Icon } from '../shared/icons';
import { checkCredentials } from './check-credentials';

type Check = 'checking' | 'failed' | { readonly found: Credentials | null };

/** Opens to say who signed a result, what was done to it, and when. Only then is the reader loaded, and the file checked. */
export function CredentialsBadge({ file, label }: { file: Blob; label: string }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const [attempt, setAttempt] = useState(0);
  const [check, setCheck] = useState<Check>('checking');
  const found = typeof check === 'string' ? null : check.found;
  useEffect(() => {
    if (!isOpen || typeof check !== 'string') return undefined;
    const controller = new AbortController();
    setCheck('checking');
    checkCredentials(file, controller.signal).then(
      (credentials) => setCheck({ found: credentials }),
      () => setCheck('failed'),
    );
    return () => controller.abort();
  }, [isOpen, attempt]);
  const { tone, text } = verdictOn(check);
  return (
    <details class="credentials card small" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        <Icon name="shield" size={16} />
        <span>
          Content credentials<span class="hidden-label"> of {label}</span>
        </span>
        <Icon name="down" size={16} />
      </summary>
      <p class="credentials-verdict" data-tone={tone} role="status">
        {tone !== 'none' && <Icon name={tone === 'good' ? 'check' : 'warning'} size={16} />}
        <span>{isOpen && text}</span>
      </p>
      {check === 'failed' && (
        <button type="button" class="button" onClick={() => setAttempt((count) => count + 1)}>
          Try again
        </button>
      )}
      {found?.state === 'invalid' && (
        <p class="soft">
          <code>{found.problems.join(', ')}</code>
        </p>
      )}
      {found !== null && found.state !== 'invalid' && <Statement credentials={found} />}
    </details>
  );
}

function verdictOn(check: Check): { readonly tone: 'none' | 'good' | 'bad'; readonly text: string } {
  if (check === 'checking') return { tone: 'none', text: 'Checking the file …' };
  if (check === 'failed')
    return {
      tone: 'bad',
      text: 'The file could not be checked: the reader did not load. Are you offline? If not, reload the page.',
    };
  const { found } = check;
  if (found === null) return { tone: 'none', text: 'This file carries no content credentials.' };
  if (found.state !== 'invalid')
    return { tone: 'good', text: 'Pictures, sound and this statement are as they were signed.' };
  // A changed file may have other flaws, too.
  const wrong = WRONG.find(([code]) => found.problems.some((problem) => code.test(problem)))?.[1];
  return { tone: 'bad', text: wrong ?? 'The credentials of this file cannot be verified.' };
}

/** By C2PA's codes. What such a file says of itself is not repeated. */
const WRONG: readonly (readonly [RegExp, string])[] = [
  [/mismatch/i, 'This file was changed after it was signed.'],
  [/expired|outsideValidity/, 'The certificate that signed this file has expired.'],
];

/** What a valid manifest says, in words. */
function Statement({ credentials }: { credentials: Credentials }): JSX.Element {
  const { signer, generator, actions, ingredients } = credentials;
  const edit = actions.find(({ action }) => action === 'edited');
  const source = ingredients.find(({ relationship }) => relationship === 'parentOf')?.credentials;
  return (
    <dl class="credentials-statement">
      <dt>Signed by</dt>
      <dd>
        {nameOf(signer)}
        <span class="soft">
          {/not trusted/i.test(signer.name)
            ? 'A certificate for tests, on no trust list: the name proves nothing.'
            : 'Not checked against a trust list: anyone can make a certificate with this name. “lipsync verify --trust” checks it.'}
        </span>
      </dd>
      <dt>What was done</dt>
      <dd>
        {edit?.agent === undefined ? 'It does not say.' : `Edited by ${edit.agent}.`}
        {edit?.source_type !== undefined && (
          <span class="soft">
            {SOURCE_TYPES[edit.source_type]}
            <code>{edit.source_type}</code>
          </span>
        )}
      </dd>
      <dt>When</dt>
      <dd>
        {timeOf(edit?.when) ?? 'It does not say.'}
        <span class="soft">By the clock of {generator}.</span>
      </dd>
      <dt>Its source</dt>
      <dd>
        {source === undefined
          ? 'The video carried no credentials of its own.'
          : `The video had credentials of its own, which are kept in the file: ${source.generator}, signed by ${nameOf(source.signer)}.`}
      </dd>
    </dl>
  );
}

const nameOf = ({ name, organization }: Credentials['signer']): string =>
  [name, organization].filter(Boolean).join(', ');

/** IPTC's terms, as far as the service uses them. */
const SOURCE_TYPES: Readonly<Record<string, string>> = {
  compositeWithTrainedAlgorithmicMedia: 'Filmed, with a part that a trained network made: ',
};

const WHEN = new Intl.DateTimeFormat(undefined, { dateStyle: 'long', timeStyle: 'medium' });

/** Null if it is no time: whoever signed could write anything. */
function timeOf(when: string | undefined): string | null {
  const ms = Date.parse(when ?? '');
  return Number.isNaN(ms) ? null : WHEN.format(ms);
}
