import { type SyncMode } from '@lipsync/client';
import { type JSX } from 'preact';
import { SYNC_MODE_TEXTS, SYNC_MODES } from '../shared/sync-modes';
import { timelinePicture } from '../shared/timeline-picture';
import { formatSeconds } from './media-limits';
import { TimelineDrawing } from './timeline-drawing';

interface SyncChoiceProps {
  readonly chosen: SyncMode;
  readonly videoSeconds: number | null;
  readonly voiceSeconds: number | null;
  readonly onChange: (mode: SyncMode) => void;
}

/** What happens when video and voice differ in length, with a picture of each mode. */
export function SyncChoice({ chosen, videoSeconds, voiceSeconds, onChange }: SyncChoiceProps): JSX.Element {
  const lengths =
    videoSeconds !== null && voiceSeconds !== null ? ([videoSeconds, voiceSeconds] as const) : null;
  return (
    <fieldset class="choices">
      <legend>
        <h2>If their lengths differ</h2>
        <span class="soft small">
          {lengths === null
            ? 'An example: the video above, a longer voice below.'
            : `Your video of ${formatSeconds(lengths[0])} above, your voice of ${formatSeconds(lengths[1])} below.`}
        </span>
      </legend>
      <div class="sync-grid">
        {SYNC_MODES.map((mode) => {
          const picture = timelinePicture(mode, ...(lengths ?? ([4, 9] as const)));
          return (
            <label key={mode} class="option">
              <input
                type="radio"
                name="sync-mode"
                value={mode}
                checked={chosen === mode}
                onChange={() => onChange(mode)}
              />
              <TimelineDrawing picture={picture} />
              <span class="option-head">
                {SYNC_MODE_TEXTS[mode].name}{' '}
                {lengths !== null && (
                  <span class="option-length number">{formatSeconds(picture.outputSeconds)}</span>
                )}
              </span>
              <span class="soft small">{SYNC_MODE_TEXTS[mode].sentence}</span>
            </label>
          );
        })}
      </div>
    </fieldset>
  );
}
