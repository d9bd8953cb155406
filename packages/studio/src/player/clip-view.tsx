import { secondsAt } from '@lipsync/domain/clock';
import { type JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Icon } from '../shared/icons';
import { usePan } from './pan';
import { sourcePosition, type SourceTimeline } from './source-clock';
import { timeText } from './time-text';
import { type Transport } from './transport';
import { useTransport } from './use-transport';
import { transformOf, type View } from './zoom';

export interface PlayerClip {
  /** `source`, or the engine's name. */
  readonly name: string;
  readonly label: string;
  readonly file: Blob;
  /** An object URL of the file. */
  readonly url: string;
  /** Null for outputs. */
  readonly timeline: SourceTimeline | null;
  /** The name to save it under; null for the source, which the user has. */
  readonly saveAs: string | null;
}

interface ClipProps {
  readonly clip: PlayerClip;
  /** A small picture of the source as a data URL, for as long as there is no video to see. */
  readonly poster: string | undefined;
  readonly transport: Transport;
  readonly view: View;
  readonly onView: (view: View) => void;
  readonly place: 'beside' | 'over' | 'under' | 'away';
  readonly heard: boolean;
  readonly onHear: () => void;
  /** Called once, with the size of the picture in pixels. */
  readonly onSize: (width: number, height: number) => void;
  /** Called once, if this browser cannot show the video. */
  readonly onBroken: () => void;
}

/** One video of the comparison, with its name and its sound. */
export function ClipView(props: ClipProps): JSX.Element {
  const { clip, poster, transport, view, onView, place, heard, onHear, onSize, onBroken } = props;
  const video = useRef<HTMLVideoElement>(null);
  const frame = useRef<HTMLDivElement>(null);
  const [state, setState] = useState<'loading' | 'shown' | 'broken'>('loading');
  usePan(frame, video, view, onView);

  useEffect(() => {
    const element = video.current;
    if (element === null) return;
    let leave: (() => void) | undefined;
    const fail = (): void => {
      setState('broken');
      onBroken();
    };
    const enter = (): void => {
      // Where browsers cannot decode a video, they play its sound.
      if (element.videoWidth === 0) return fail();
      setState('shown');
      onSize(element.videoWidth, element.videoHeight);
      leave = transport.add(clip.name, element, clip.timeline);
    };
    element.addEventListener('loadeddata', enter, { once: true });
    element.addEventListener('error', fail, { once: true });
    element.src = clip.url;
    return () => {
      element.removeEventListener('loadeddata', enter);
      element.removeEventListener('error', fail);
      leave?.();
    };
    // onSize and onBroken are new at every rendering, and needed once.
  }, [clip, transport]);

  return (
    <figure class={`clip clip-${place}`} data-clip={clip.name}>
      <div class="clip-frame" ref={frame} data-zoomed={view.scale > 1}>
        <video
          ref={video}
          preload="auto"
          playsInline
          muted
          disablePictureInPicture
          tabIndex={-1}
          aria-label={clip.label}
          style={{ transform: transformOf(view) }}
        />
        {state !== 'shown' && poster !== undefined && <img class="clip-poster" src={poster} alt="" />}
        {state === 'broken' && <Broken clip={clip} />}
      </div>
      <figcaption>
        <span class="dot" style={{ '--color': `var(--${clip.name}, var(--accent))` }} />
        <span class="clip-name">{clip.label}</span>
        {clip.timeline !== null && <SourceTime transport={transport} timeline={clip.timeline} />}
        <button
          type="button"
          class="clip-sound"
          disabled={state === 'broken'}
          aria-pressed={heard}
          aria-label={`Hear ${clip.label}`}
          title={heard ? 'Mute' : `Hear ${clip.label}`}
          onClick={onHear}
        >
          <Icon name={heard ? 'sound' : 'silent'} size={17} />
        </button>
        {clip.saveAs !== null && (
          <a
            class="clip-save"
            href={clip.url}
            download={clip.saveAs}
            aria-label={`Download ${clip.label}`}
            title={`Download ${clip.label}`}
          >
            <Icon name="download" size={17} />
          </a>
        )}
      </figcaption>
    </figure>
  );
}

function Broken({ clip: { label, saveAs, url } }: { clip: PlayerClip }): JSX.Element {
  return (
    <div class="clip-broken">
      <p>
        <strong>This browser cannot show {saveAs === null ? 'your video' : 'this result'}.</strong>{' '}
        <span class="clip-why">
          {saveAs === null
            ? 'The results play without it.'
            : '10-bit and HDR results are HEVC, which this browser cannot play. Other players can.'}
        </span>
      </p>
      {saveAs !== null && (
        <a class="button" href={url} download={saveAs} aria-label={`Download ${label}`}>
          <Icon name="download" size={16} />
          Download
        </a>
      )}
    </div>
  );
}

/** Which moment of the source is beside the output: the sync mode makes it jump, turn or stand still. */
function SourceTime({
  transport,
  timeline,
}: {
  transport: Transport;
  timeline: SourceTimeline;
}): JSX.Element {
  const frame = useTransport(transport, (state) => state.frame);
  const position = sourcePosition(timeline, frame);
  const way = position.rate < 0 ? ' ←' : position.rate === 0 ? ' ∥' : '';
  return (
    <span class="clip-time soft number" title="Time in the source">
      {timeText(secondsAt(timeline.source, position.frame))}
      {way}
    </span>
  );
}
