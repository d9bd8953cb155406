import { type Engine } from '@lipsync/client';
import { type JSX } from 'preact';
import { useId } from 'preact/hooks';
import { ErrorPanel } from '../errors/error-panel';
import { type Failure } from '../errors/failure';
import { Problem } from '../errors/problem';
import { ENGINE_TEXTS } from '../shared/engines';
import { Icon } from '../shared/icons';

interface EngineChoiceProps {
  readonly chosen: readonly Engine[];
  readonly problem: string | null;
  readonly failure: Failure | null;
  readonly onChange: (engines: readonly Engine[]) => void;
}

const ENGINES = Object.keys(ENGINE_TEXTS) as readonly Engine[];

export function EngineChoice({ chosen, problem, failure, onChange }: EngineChoiceProps): JSX.Element {
  const problemId = useId();
  return (
    <fieldset class="choices" data-part="engines" aria-describedby={problemId}>
      <legend>
        <h2>Engines</h2>
        <span class="soft small">
          Choose one, or up to three to compare side by side.{' '}
          <a href="/docs/engines" target="_blank">
            How they differ
          </a>
        </span>
      </legend>
      <div class="engine-grid">
        {ENGINES.map((engine) => (
          <label key={engine} class="option">
            <input
              type="checkbox"
              name="engines"
              value={engine}
              checked={chosen.includes(engine)}
              onChange={(event) => {
                const checked = event.currentTarget.checked;
                onChange(ENGINES.filter((other) => (other === engine ? checked : chosen.includes(other))));
              }}
            />
            <span class="option-head">
              <span class="dot" style={{ '--color': `var(--${engine})` }} />
              <span>{ENGINE_TEXTS[engine].name}</span>
              <span class="option-role">{ENGINE_TEXTS[engine].role}</span>
              <span class="option-check">
                <Icon name="check" size={14} />
              </span>
            </span>
            <span class="soft small">{ENGINE_TEXTS[engine].sentence}</span>
          </label>
        ))}
      </div>
      <Problem id={problemId} text={problem} />
      {failure !== null && <ErrorPanel failure={failure} focus />}
    </fieldset>
  );
}
