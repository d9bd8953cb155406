import './progress-panel.css';
import { type RenderRecord } from '@lipsync/client';
import { type JSX } from 'preact';
import { type RecentRender } from '../history/recent-work';
import { engineName } from '../shared/engines';
import { Icon } from '../shared/icons';
import { Meter } from '../shared/meter';
import { engineStageText, renderStageText, stepOf, STEPS } from '../shared/stages';
import { clockText, expectation, timesOfAlike } from './expected-time';
import { useElapsed } from './use-elapsed';

interface ProgressProps {
  readonly record: RenderRecord;
  /** What this browser remembers of the render, and of the others. */
  readonly recent: RecentRender | null;
  readonly renders: readonly RecentRender[];
  readonly cancelling: boolean;
  readonly onCancel: () => void;
}

/** How far a render is: its steps, and a line for each engine. */
export function ProgressPanel(props: ProgressProps): JSX.Element {
  const { record, recent, renders, cancelling, onCancel } = props;
  const step = stepOf(record.stage);
  const percent = Math.floor(record.progress_percent);
  const { elapsed, left } = useElapsed(record);
  const expected = expectation(left, recent === null ? [] : timesOfAlike(recent, renders));
  return (
    <section class="progress card" aria-label="Progress">
      {recent?.picture !== undefined && (
        <div class="progress-picture">
          <img src={recent.picture} alt="" />
        </div>
      )}
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
          <p class="progress-time number">
            <span role="timer" aria-label="Elapsed">
              {clockText(elapsed)}
            </span>
            {expected !== null && <span class="soft"> · {expected}</span>}
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
            <span class="soft small number engine-line-percent">{Math.floor(done)}%</span>
          </li>
        ))}
      </ul>
      <p class="soft small progress-note">
        You can close this page: the render goes on
        {recent === null ? '.' : ', and you will find it under Recent renders.'}
      </p>
    </section>
  );
}
