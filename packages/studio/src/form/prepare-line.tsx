import { type JSX } from 'preact';
import { Icon } from '../shared/icons';
import { Meter } from '../shared/meter';
import { type Choice } from './choice';

/** A preparation under way, of the chosen video. */
export interface PreparationWork {
  readonly text: string;
  /** 0 to 1. */
  readonly progress: number;
  readonly cancel: () => void;
}

interface PrepareProps {
  readonly choice: Choice;
  readonly work: PreparationWork | null;
  readonly onPrepare: () => void;
}

/** Analyzes a video ahead of time, for those who render it with several voices. */
export function PrepareLine({ choice, work, onPrepare }: PrepareProps): JSX.Element | null {
  if (work !== null)
    return (
      <div class="preview-prepare" role="status">
        <span class="small">{work.text}</span>
        <Meter value={work.progress} label="Preparation" />
        <button type="button" class="button button-quiet" onClick={work.cancel}>
          Stop
        </button>
      </div>
    );
  if (choice.kind === 'prepared')
    return (
      <p class="preview-prepare small soft">
        <Icon name="check" size={16} />
        Prepared: the face is already found, so rendering starts at once.
      </p>
    );
  return (
    <div class="preview-prepare">
      <button type="button" class="button" onClick={onPrepare}>
        Prepare this video
      </button>
      <span class="soft small">Worth it if you render it with several voices.</span>
    </div>
  );
}
