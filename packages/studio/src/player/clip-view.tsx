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
}

interface ClipProps {
  readonly clip: PlayerClip;
  readonly transport: Transport;
  readonly view: View;
  readonly onView: (view: View) => void;
  readonly place: 'beside' | 'over' | 'under' | 'away';
  readonly heard: boolean;
  readonly onHear: () => void;
  /** Called once, with the size of the picture in pixels. */
  readonly onSize: (width: number, height: number) => void;
}

/** One video of the comparison, with its name and its sound. */
export function ClipView(props: ClipProps): JSX.Element {
  const { clip, transport, view, onView, place, heard, onHear, onSize } = props;
  const video = useRef<HTMLVideoElement>(null);
  const frame = useRef<HTMLDivElement>(null);
  const [broken, setBroken] = useState(false);
  usePan(frame, video, view, onView);

  useEffect(() => {
    const element = video.current;
    if (element === null) return;
    let leave: (() => void) | undefined;
    const enter = (): void => {
      onSize(element.videoWidth, element.videoHeight);
      leave = transport.add(clip.name, element, clip.timeline);
    };
    element.addEventListener('loadeddata', enter, { once: true });
    element.addEventListener('error', () => setBroken(true), { once: true });
    element.src = clip.url;
    return () => {
      element.removeEventListener('loadeddata', enter);
      leave?.();
    };
    // onSize is new at every rendering, and needed once.
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
        {broken && (
          <p class="clip-broken">
            This browser cannot play {clip.label.toLowerCase()}. Its download may still play elsewhere.
          </p>
        )}
      </div>
      <figcaption>
        <span class="dot" style={{ '--color': `var(--${clip.name}, var(--accent))` }} />
        <span class="clip-name">{clip.label}</span>
        {clip.timeline !== null && <SourceTime transport={transport} timeline={clip.timeline} />}
        <button
          type="button"
          class="clip-sound"
          aria-pressed={heard}
          aria-label={`Hear ${clip.label}`}
          title={heard ? 'Mute' : `Hear ${clip.label}`}
          onClick={onHear}
        >
          <Icon name={heard ? 'sound' : 'silent'} size={17} />
        </button>
      </figcaption>
    </figure>
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
