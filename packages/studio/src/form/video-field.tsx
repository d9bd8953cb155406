import { type JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { type Failure } from '../errors/failure';
import { type RecentPreparation } from '../history/recent-work';
import { Icon } from '../shared/icons';
import { useObjectUrl } from '../shared/use-object-url';
import { type Choice, fileOf } from './choice';
import { MediaField } from './media-field';
import { formatBytes, formatSeconds, LIMITS } from './media-limits';
import { type PreparationWork, PrepareLine } from './prepare-line';
import { type WhatItIs } from './what-it-is';

interface VideoFieldProps {
  readonly choice: Choice | null;
  readonly problem: string | null;
  readonly failure: Failure | null;
  readonly preparations: readonly RecentPreparation[];
  /** The video of a preparation, if this browser has it. */
  readonly findVideo: (id: string) => Promise<File | null>;
  readonly work: PreparationWork | null;
  readonly onFiles: (files: readonly File[]) => void;
  readonly onChoice: (choice: Choice | null) => void;
  readonly onPrepare: () => void;
}

export function VideoField(props: VideoFieldProps): JSX.Element {
  const { choice, preparations, findVideo, work, onChoice, onPrepare } = props;
  const takePrepared = async (preparation: RecentPreparation): Promise<void> => {
    onChoice({ kind: 'prepared', preparation, file: await findVideo(preparation.id) });
  };

  return (
    <MediaField
      mediaType="video"
      title="Video"
      icon="film"
      formats={`MP4, MOV, WebM and more. ${LIMITS}`}
      choice={choice}
      problem={props.problem}
      failure={props.failure}
      onFiles={props.onFiles}
      onUrl={(url) => onChoice(url === '' ? null : { kind: 'url', url })}
      onClear={() => onChoice(null)}
      actions={
        preparations.length > 0 && <PreparedList preparations={preparations} onChoose={takePrepared} />
      }
      preview={
        choice !== null && (
          <div class="preview">
            <VideoPreview choice={choice} />
            <Facts choice={choice} />
            <PrepareLine choice={choice} work={work} onPrepare={onPrepare} />
          </div>
        )
      }
    />
  );
}

function VideoPreview({ choice }: { choice: Choice }): JSX.Element {
  const file = fileOf(choice);
  if (choice.kind === 'file' && choice.unshown !== undefined) return <UnshownPreview what={choice.unshown} />;
  if (file !== null) return <PlayablePreview file={file} />;
  const picture = choice.kind === 'prepared' ? choice.preparation.picture : undefined;
  return <div class="preview-picture">{picture !== undefined && <img src={picture} alt="" />}</div>;
}

/** In the place of a picture: nobody should think that the file is broken. */
function UnshownPreview({ what }: { what: WhatItIs }): JSX.Element {
  const { container, codec, size } = what;
  const facts = [[codec, container].filter((part) => part !== null).join(' in '), size];
  return (
    <div class="preview-picture preview-unshown">
      <Icon name="film" size={26} />
      <p>
        <strong>This browser cannot show this video.</strong>
      </p>
      <p class="soft small">{unshownText(what)}</p>
      <p class="soft small number">{facts.filter(Boolean).join(' · ')}</p>
    </div>
  );
}

function unshownText({ container, codec }: WhatItIs): string {
  const isUsual = container === 'MP4' || container === 'MOV' || container === 'WebM';
  if (isUsual && (codec === null || ['H.264', 'VP8', 'VP9'].includes(codec)))
    return 'It may be damaged, or of a rare kind: the service looks at it when it renders, and says so.';
  if (codec !== null) return `The service can render ${codec}, and the result plays here.`;
  return 'The service reads more formats than browsers do, and looks at it when it renders. The result plays here.';
}

function PlayablePreview({ file }: { file: File }): JSX.Element {
  const video = useRef<HTMLVideoElement>(null);
  const [playing, setPlaying] = useState(false);
  return (
    <div class="preview-picture">
      <video
        ref={video}
        src={useObjectUrl(file)}
        playsInline
        loop
        preload="auto"
        aria-label="Preview of the video"
        onPlay={() => setPlaying(true)}
        onPause={() => setPlaying(false)}
      />
      <button
        type="button"
        class="button preview-play"
        aria-label={playing ? 'Pause the video' : 'Play the video'}
        onClick={() => {
          if (playing) video.current?.pause();
          else void video.current?.play().catch(() => setPlaying(false));
        }}
      >
        <Icon name={playing ? 'pause' : 'play'} size={20} />
      </button>
    </div>
  );
}

function Facts({ choice }: { choice: Choice }): JSX.Element | null {
  if (choice.kind === 'url') return null;
  const file = choice.file;
  const name = choice.kind === 'file' ? choice.file.name : choice.preparation.videoName;
  const seconds = choice.kind === 'file' ? choice.seconds : choice.preparation.seconds;
  return (
    <p class="preview-facts">
      <span class="preview-name">{name}</span>
      <span class="soft small number">
        {[seconds == null ? null : formatSeconds(seconds), file === null ? null : formatBytes(file.size)]
          .filter((fact) => fact !== null)
          .join(' · ')}
      </span>
    </p>
  );
}

interface PreparedProps {
  preparations: readonly RecentPreparation[];
  onChoose: (preparation: RecentPreparation) => Promise<void>;
}

/** Videos that were analyzed before. */
function PreparedList({ preparations, onChoose }: PreparedProps): JSX.Element {
  return (
    <ul class="prepared-list" aria-label="Prepared videos">
      {preparations.slice(0, 3).map((preparation) => (
        <li key={preparation.id}>
          <button type="button" onClick={() => void onChoose(preparation)}>
            {preparation.picture === undefined ? <span /> : <img src={preparation.picture} alt="" />}
            <span class="preview-name">{preparation.videoName}</span>
            <span class="soft small">prepared</span>
          </button>
        </li>
      ))}
    </ul>
  );
}
