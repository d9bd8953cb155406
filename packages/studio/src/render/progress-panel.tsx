import { type RenderRecord } from '@lipsync/client';
import { type JSX } from 'preact';
import { engineName } from '../shared/engines';
import { Icon } from '../shared/icons';
import { Meter } from '../shared/meter';
import { engineStageText, renderStageText, stepOf, STEPS } from './stages';

interface ProgressProps {
  readonly record: RenderRecord;
  readonly cancelling: boolean;
  readonly onCancel: () => void;
}

/** How far a render is: its steps, and a line for each engine. */
export function ProgressPanel({ record, cancelling, onCancel }: ProgressProps): JSX.Element {
  const step = stepOf(record.stage);
  const percent = Math.floor(record.progress_percent);
  return (
    <section class="progress card" aria-label="Progress">
      <div class="progress-head">
        <p class="progress-percent number">
          {percent}
          <span class="soft">%</span>
        </p>
        <div>
          <h2>{renderStageText(record.stage)}</h2>
          <p class="hidden-label" role="status">
            {renderStageText(record.stage)}
          </p>
          <p class="soft small">
            You can close this page: the render goes on, and you will find it under Recent renders.
          </p>
        </div>
        <button type="button" class="button" disabled={cancelling} onClick={onCancel}>
          {cancelling ? 'Cancelling …' : 'Cancel'}
        </button>
      </div>
      <ol class="steps">
        {STEPS.map((name, i) => (
          <li
            key={name}
            data-state={i < step ? 'done' : i === step ? 'now' : 'ahead'}
            {...(i === step ? { 'aria-current': 'step' as const } : {})}
          >
            <span class="step-bar" />
            <span class="small">{renderStageText(name)}</span>
          </li>
        ))}
      </ol>
      <ul class="engine-lines">
        {record.engines.map(({ engine, stage, status, progress_percent: done }) => (
          <li key={engine}>
            <span class="engine-line-name">
              <span class="dot" style={{ '--color': `var(--${engine}, var(--accent))` }} />
              {engineName(engine)}
            </span>
            <Meter value={done / 100} label={engineName(engine)} color={`--${engine}`} />
            <span class="soft small engine-line-stage">
              {status === 'completed' && <Icon name="check" size={15} />}
              {engineStageText(stage)}
            </span>
            <span class="soft small number engine-line-percent">{Math.floor(done)} %</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
