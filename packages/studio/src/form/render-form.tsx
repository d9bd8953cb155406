import './choices.css';
import './render-form.css';
import { type MediaType } from '@lipsync/client';
import { type JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { failureOf } from '../errors/failure';
import { type RecentPreparation } from '../history/recent-work';
import {
  type Choice,
  type FormPart,
  outputSecondsOf,
  problems,
  remedy,
  type RenderChoices,
  secondsOf,
} from './choice';
import { EngineChoice } from './engine-choice';
import { type FormFailure } from './form-failure';
import { formatSeconds } from './media-limits';
import { type PreparationWork } from './prepare-line';
import { RenderBar } from './render-bar';
import { fetchSample } from './sample';
import { SyncChoice } from './sync-choice';
import { type Sending } from './upload-panel';
import { type ChangeChoices, useFiles } from './use-files';
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
  /** What was asked for waits for the connection. */
  readonly waiting: { readonly cancel: () => void } | null;
  readonly failure: FormFailure | null;
  readonly onChange: ChangeChoices;
  readonly onFailure: (failure: FormFailure | null) => void;
  readonly onPrepare: () => void;
  readonly onRender: () => void;
}

export function RenderForm(props: RenderFormProps): JSX.Element {
  const { choices, preparing, failure, onChange, onPrepare, onRender } = props;
  // What is missing is said only after somebody has tried.
  const [attempts, setAttempts] = useState(0);
  const form = useRef<HTMLFormElement>(null);
  const { refused, take, forgive } = useFiles(onChange);
  const found = problems(choices);

  const problemOf = (part: 'video' | 'voice', mediaType: MediaType): string | null => {
    const isShown = attempts > 0 || choices[part]?.kind === 'file';
    return refused[mediaType] ?? (isShown ? found[part] : null);
  };
  const failureAt = (part: FormFailure['part']) => (failure?.part === part ? failure.failure : null);
  const choose = (part: 'video' | 'voice', mediaType: MediaType, choice: Choice | null): void => {
    forgive(mediaType);
    onChange(() => ({ [part]: choice }));
  };

  const render = (): void => {
    setAttempts((count) => count + 1);
    if (Object.values(found).every((problem) => problem === null)) onRender();
  };
  useEffect(() => {
    const part = (['video', 'voice', 'engines'] as const).find((name) => found[name] !== null);
    if (attempts > 0 && part !== undefined) focusPart(form.current, part);
  }, [attempts]);
  const sample = useRef<HTMLButtonElement>(null);
  const trySample = async (): Promise<void> => {
    try {
      const files = await fetchSample();
      // Something else was chosen meanwhile.
      if (sample.current === null) return;
      await take(files, null);
      // The button that had the focus is gone.
      form.current?.querySelector<HTMLElement>('[type=submit]')?.focus();
    } catch (error) {
      if (sample.current === null) return;
      const reason = failureOf(error);
      props.onFailure(reason && { failure: { ...reason, ...NO_SAMPLE }, part: 'render' });
    }
  };

  return (
    <form
      ref={form}
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
      {choices.video === null && choices.voice === null && (
        <p class="render-sample">
          <button ref={sample} type="button" class="button" onClick={() => void trySample()}>
            Try with the sample
          </button>
          <span class="soft small">Nothing at hand? Take a drawn face and a synthetic voice.</span>
        </p>
      )}
      <div class="render-inputs">
        <VideoField
          choice={choices.video}
          problem={problemOf('video', 'video')}
          failure={failureAt('video')}
          preparations={props.preparations}
          findVideo={props.findVideo}
          work={preparing}
          onFiles={(files) => void take(files, 'video')}
          onChoice={(video) => choose('video', 'video', video)}
          onPrepare={onPrepare}
        />
        <VoiceField
          choice={choices.voice}
          problem={problemOf('voice', 'audio')}
          failure={failureAt('voice')}
          onFiles={(files) => void take(files, 'audio')}
          onChoice={(voice) => choose('voice', 'audio', voice)}
        />
      </div>
      <EngineChoice
        chosen={choices.engines}
        problem={found.engines}
        failure={failureAt('engines')}
        onChange={(engines) => onChange(() => ({ engines }))}
      />
      <SyncChoice
        chosen={choices.syncMode}
        videoSeconds={secondsOf(choices.video)}
        voiceSeconds={secondsOf(choices.voice)}
        onChange={(syncMode) => onChange(() => ({ syncMode }))}
      />
      <RenderBar
        summary={summary(choices)}
        remedy={attempts > 0 ? remedy(choices) : null}
        failure={failureAt('render')}
        waiting={props.waiting}
        sending={props.sending}
      />
    </form>
  );
}

const NO_SAMPLE = { title: 'The sample cannot be fetched', hint: 'Try again, or use files of your own.' };

/** Goes to where a part can be chosen. The browser scrolls there; what is wrong describes that control. */
function focusPart(form: HTMLFormElement | null, part: FormPart): void {
  form
    ?.querySelector<HTMLElement>(`[data-part=${part}]`)
    ?.querySelector<HTMLElement>('button, input:not([type=file])')
    ?.focus();
}

function summary(choices: RenderChoices): string {
  const { length } = choices.engines;
  const count = length === 1 ? '1 engine' : `${length} engines`;
  const seconds = outputSecondsOf(choices);
  return seconds === null ? count : `${count} · result of ${formatSeconds(seconds)}`;
}
