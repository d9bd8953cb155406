import './player.css';
import { type Clock, framesOf } from '@lipsync/domain/clock';
import { type JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Icon } from '../shared/icons';
import { arrange, NAME_HEIGHT, usePage } from './arrangement';
import { ClipView, type PlayerClip } from './clip-view';
import { type Region } from './find-mouth';
import { locateMouth } from './locate-mouth';
import { type Shortcut } from './shortcuts';
import { Shortcuts } from './shortcuts-view';
import { Track } from './track';
import { Transport } from './transport';
import { TransportBar } from './transport-bar';
import { useShortcuts } from './use-shortcuts';
import { useTransport } from './use-transport';
import { WipeHandle } from './wipe-handle';
import { viewOf, WHOLE, withinPicture, zoomAt } from './zoom';

interface PlayerProps {
  /** The source, if there is one, then the outputs. The same array as long as they are the same. */
  readonly clips: readonly PlayerClip[];
  /** A small picture of the source as a data URL, if there is one. */
  readonly poster: string | undefined;
  /** When the frames of the outputs are on screen. */
  readonly clock: Clock;
}

/** Several videos in one transport: side by side, or one wiped over another. */
export function Player({ clips, poster, clock }: PlayerProps): JSX.Element {
  const transport = useMemo(() => {
    const output = clips.find(({ timeline }) => timeline === null);
    return new Transport({ clock, sounding: output?.name ?? null });
  }, [clips, clock]);
  useEffect(() => () => transport.close(), [transport]);
  const sounding = useTransport(transport, (state) => state.sounding);
  const [view, setView] = useState(WHOLE);
  const [mouth, setMouth] = useState<Region | null>(null);
  const [wiping, setWiping] = useState(false);
  const [pair, setPair] = useState<readonly [string, string]>([
    clips[0]?.name ?? '',
    clips.at(-1)?.name ?? '',
  ]);
  const [split, setSplit] = useState(0.5);
  const [help, setHelp] = useState(false);
  const [ratio, setRatio] = useState(16 / 9);

  const [broken, setBroken] = useState<readonly string[]>([]);
  const playable = clips.filter(({ name }) => !broken.includes(name));
  const firstOutput = playable.find(({ timeline }) => timeline === null);
  useEffect(() => {
    if (sounding !== null && broken.includes(sounding)) transport.listenTo(firstOutput?.name ?? null);
  }, [broken]);

  const toggleMouth = async (): Promise<void> => {
    if (view.scale > 1) {
      setView(WHOLE);
      return;
    }
    const found = mouth ?? (await locateMouth(playable, clock).catch(() => null)) ?? DEFAULT_MOUTH;
    setMouth(found);
    setView(viewOf(found, ratio));
  };
  const listen = (name: string): void => transport.listenTo(sounding === name ? null : name);

  const act = (shortcut: Shortcut): void => {
    switch (shortcut.kind) {
      case 'toggle':
        transport.toggle();
        break;
      case 'step':
        if (shortcut.by === 'frame') transport.step(shortcut.count);
        else transport.skip(shortcut.count);
        break;
      case 'edge':
        transport.seek(shortcut.end ? framesOf(clock) - 1 : 0);
        break;
      case 'repeat':
        transport.setLooping(!transport.state.looping);
        break;
      case 'mouth':
        void toggleMouth();
        break;
      case 'wipe':
        if (clips.length > 1) setWiping(!wiping);
        break;
      case 'mute':
        transport.listenTo(null);
        break;
      case 'help':
        setHelp(true);
        break;
      case 'hear': {
        const clip = clips[shortcut.clip];
        if (clip !== undefined) transport.listenTo(clip.name);
        break;
      }
    }
  };
  useShortcuts(act);

  const pictures = useRef<HTMLDivElement>(null);
  const foot = useRef<HTMLDivElement>(null);
  const { columns, height } = arrange(wiping ? 1 : clips.length, ratio, usePage(pictures, foot));
  const layout = {
    '--columns': String(columns),
    '--height': `${height}px`,
    '--width': `${height * ratio}px`,
    '--name': `${NAME_HEIGHT}px`,
    '--ratio': String(ratio),
    '--split': `${split * 100}%`,
  };
  return (
    <section class="player card" aria-label="Comparison">
      <div class="player-bar">
        <div class="segments" role="group" aria-label="Arrangement">
          <button type="button" aria-pressed={!wiping} onClick={() => setWiping(false)}>
            <Icon name="grid" size={16} />
            Side by side
          </button>
          <button
            type="button"
            aria-pressed={wiping}
            disabled={clips.length < 2}
            onClick={() => setWiping(true)}
          >
            <Icon name="wipe" size={16} />
            Wipe
          </button>
        </div>
        {wiping && <PairChoice clips={clips} pair={pair} onChange={setPair} />}
        <div class="player-zoom" role="group" aria-label="Zoom">
          <button
            type="button"
            class="button button-quiet"
            aria-pressed={view.scale > 1}
            onClick={() => void toggleMouth()}
          >
            <Icon name="mouth" />
            Mouth
          </button>
          <button
            type="button"
            class="button button-quiet button-icon"
            aria-label="Zoom out"
            disabled={view.scale === 1}
            onClick={() => setView(withinPicture({ ...view, scale: view.scale / 1.4 }))}
          >
            <Icon name="minus" />
          </button>
          <output class="small soft number">{view.scale.toFixed(1)}×</output>
          <button
            type="button"
            class="button button-quiet button-icon"
            aria-label="Zoom in"
            onClick={() => setView(zoomAt(view, 1.4, { x: 0.5, y: 0.5 }))}
          >
            <Icon name="plus" />
          </button>
        </div>
      </div>
      <div class={wiping ? 'clips clips-wiped' : 'clips'} ref={pictures} style={layout}>
        {clips.map((clip) => (
          <ClipView
            key={clip.name}
            clip={clip}
            transport={transport}
            view={view}
            onView={setView}
            place={
              !wiping ? 'beside' : pair[1] === clip.name ? 'over' : pair[0] === clip.name ? 'under' : 'away'
            }
            heard={sounding === clip.name}
            onHear={() => listen(clip.name)}
            poster={poster}
            onBroken={() => setBroken((now) => [...now, clip.name])}
            onSize={(width, height) => clip.timeline === null && setRatio(width / height)}
          />
        ))}
        {wiping && <WipeHandle split={split} onChange={setSplit} />}
      </div>
      {firstOutput !== undefined && (
        <div class="player-foot" ref={foot}>
          <Track transport={transport} clips={clips} />
          <TransportBar transport={transport} onHelp={() => setHelp(true)} />
        </div>
      )}
      {help && <Shortcuts onClose={() => setHelp(false)} />}
    </section>
  );
}

/** Where mouths usually are, if there is nothing to find one by. */
const DEFAULT_MOUTH: Region = { x: 0.4, y: 0.5, width: 0.2, height: 0.14 };

interface PairProps {
  clips: readonly PlayerClip[];
  pair: readonly [string, string];
  onChange: (pair: readonly [string, string]) => void;
}

/** The two clips of the wipe. Choosing the one that is on the other side swaps them. */
function PairChoice({ clips, pair, onChange }: PairProps): JSX.Element {
  const [left, right] = pair;
  const choice = (label: string, value: string, choose: (name: string) => void): JSX.Element => (
    <select
      class="select"
      aria-label={label}
      value={value}
      onChange={(event) => choose(event.currentTarget.value)}
    >
      {clips.map(({ name, label: text }) => (
        <option key={name} value={name}>
          {text}
        </option>
      ))}
    </select>
  );
  return (
    <div class="player-pair">
      {choice('Left of the wipe', left, (name) => onChange([name, name === right ? left : right]))}
      <span class="soft" aria-hidden="true">
        |
      </span>
      {choice('Right of the wipe', right, (name) => onChange([name === left ? right : left, name]))}
    </div>
  );
}
