import './choices.css';
import './render-form.css';
import { type JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ErrorPanel } from '../errors/error-panel';
import { type Failure } from '../errors/failure';
import { type RecentPreparation } from '../history/recent-work';
import { Icon } from '../shared/icons';
import { problems, type RenderChoices, secondsOf } from './choice';
import { EngineChoice } from './engine-choice';
import { formatSeconds } from './media-limits';
import { type PreparationWork } from './prepare-line';
import { SyncChoice } from './sync-choice';
import { timelinePicture } from './timeline-picture';
import { type Sending, UploadPanel } from './upload-panel';
import { VideoField } from './video-field';
import { VoiceField } from './voice-field';

interface RenderFormProps {
  readonly choices: RenderChoices;
  readonly preparations: readonly RecentPreparation[];
  /** The video of a preparation, if this browser has it. */
  readonly findVideo: (id: string) => Promise<File | null>;
  readonly preparing: PreparationWork | null;
  /** The upload under way. */
  readonly sending: Sending | null;
  readonly failure: Failure | null;
  readonly onChange: (change: Partial<RenderChoices>) => void;
  readonly onPrepare: () => void;
  readonly onRender: () => void;
}

export function RenderForm(props: RenderFormProps): JSX.Element {
  const { choices, preparing, sending, failure, onChange, onPrepare, onRender } = props;
  // What is missing is said only after somebody has tried.
  const [tried, setTried] = useState(false);
  const found = problems(choices);
  const shown = (part: keyof typeof found, isFilled: boolean): string | null =>
    tried || isFilled ? found[part] : null;
  const render = (): void => {
    setTried(true);
    if (Object.values(found).every((problem) => problem === null)) onRender();
  };
  return (
    <form
      class="render-form"
      aria-label="New render"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        render();
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) render();
      }}
    >
      <div class="render-inputs">
        <VideoField
          choice={choices.video}
          problem={shown('video', choices.video?.kind === 'file')}
          preparations={props.preparations}
          findVideo={props.findVideo}
          work={preparing}
          onChoice={(video) => onChange({ video })}
          onPrepare={onPrepare}
        />
        <VoiceField
          choice={choices.voice}
          problem={shown('voice', choices.voice?.kind === 'file')}
          onChoice={(voice) => onChange({ voice })}
        />
      </div>
      <EngineChoice
        chosen={choices.engines}
        problem={found.engines}
        onChange={(engines) => onChange({ engines })}
      />
      <SyncChoice
        chosen={choices.syncMode}
        videoSeconds={secondsOf(choices.video)}
        voiceSeconds={secondsOf(choices.voice)}
        onChange={(syncMode) => onChange({ syncMode })}
      />
      {failure !== null && <ErrorPanel failure={failure} />}
      <div class="render-bar">
        {sending === null ? (
          <>
            <p class="soft small">{summary(choices)}</p>
            <button type="submit" class="button button-primary button-large">
              Render
              <Icon name="arrow" />
            </button>
          </>
        ) : (
          <UploadPanel sending={sending} />
        )}
      </div>
    </form>
  );
}

function summary({ engines, syncMode, video, voice }: RenderChoices): string {
  const count = engines.length === 1 ? '1 engine' : `${engines.length} engines`;
  const [videoSeconds, voiceSeconds] = [secondsOf(video), secondsOf(voice)];
  if (videoSeconds === null || voiceSeconds === null) return count;
  return `${count} · result of ${formatSeconds(timelinePicture(syncMode, videoSeconds, voiceSeconds).outputSeconds)}`;
}
