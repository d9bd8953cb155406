import { endOf, secondsAt } from '@lipsync/domain/clock';
import { type JSX, type RefObject } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { timelinePicture } from '../shared/timeline-picture';
import { type PlayerClip } from './clip-view';
import { decodeSound, peaks } from './peaks';
import { timeText } from './time-text';
import { type Transport } from './transport';
import { useTransport } from './use-transport';

/** From one bar to the next, in CSS pixels: narrower ones are blurred. */
const BAR_WIDTH = 4;

/** The voice as a picture, to scrub in. Below it, what the sync mode does with the source. */
export function Track({
  transport,
  clips,
}: {
  transport: Transport;
  clips: readonly PlayerClip[];
}): JSX.Element {
  const { frame, frames } = useTransport(transport, (state) => state);
  const slider = useRef<HTMLDivElement>(null);
  const output = clips.find(({ timeline }) => timeline === null);
  const bars = useBars(slider);
  const path = useWaveform(output?.file, bars);
  const played = `${(frames <= 1 ? 0 : (frame + 0.5) / frames) * 100}%`;

  const scrub = (event: PointerEvent): void => {
    const element = slider.current;
    if (element === null || !element.hasPointerCapture(event.pointerId)) return;
    const box = element.getBoundingClientRect();
    transport.seek(Math.floor(((event.clientX - box.left) / box.width) * frames));
  };
  return (
    <div class="track">
      <div
        ref={slider}
        class="track-voice"
        role="slider"
        tabIndex={0}
        aria-label="Position"
        aria-valuemin={1}
        aria-valuemax={frames}
        aria-valuenow={frame + 1}
        aria-valuetext={`${timeText(secondsAt(transport.clock, frame))}, frame ${frame + 1} of ${frames}`}
        style={{ '--played': played }}
        onPointerDown={(event) => {
          slider.current?.setPointerCapture(event.pointerId);
          scrub(event);
        }}
        onPointerMove={scrub}
      >
        <svg viewBox={`0 0 ${bars} 100`} preserveAspectRatio="none" aria-hidden="true">
          <path d={path} />
        </svg>
        <svg class="track-played" viewBox={`0 0 ${bars} 100`} preserveAspectRatio="none" aria-hidden="true">
          <path d={path} />
        </svg>
        <span class="track-head" />
      </div>
      <SourceStrip clips={clips} />
    </div>
  );
}

/** As many bars as there is room for. */
function useBars(place: RefObject<HTMLElement | null>): number {
  const [bars, setBars] = useState(1);
  useLayoutEffect(() => {
    const observer = new ResizeObserver(() =>
      setBars(Math.max(1, Math.round((place.current?.clientWidth ?? 0) / BAR_WIDTH))),
    );
    if (place.current !== null) observer.observe(place.current);
    return () => observer.disconnect();
  }, []);
  return bars;
}

/** Bars as one path; until the sound is decoded, and where there is none, a line. */
function useWaveform(file: Blob | undefined, bars: number): string {
  const [samples, setSamples] = useState<Float32Array | null>(null);
  useEffect(() => {
    if (file === undefined) return undefined;
    let current = true;
    decodeSound(file).then(
      (sound) => current && setSamples(sound.samples),
      // Without a picture of the voice everything else works.
      () => undefined,
    );
    return () => {
      current = false;
    };
  }, [file]);
  return useMemo(() => {
    const heights = samples === null ? new Float32Array(bars) : peaks(samples, bars);
    return Array.from(heights, (peak, i) => {
      const height = Math.max(1.5, Math.sqrt(peak) * 46);
      return `M${i + 0.5} ${(50 - height).toFixed(1)}V${(50 + height).toFixed(1)}`;
    }).join('');
  }, [samples, bars]);
}

/** Where the source plays, turns, starts over or stands; nothing if it just plays. */
function SourceStrip({ clips }: { clips: readonly PlayerClip[] }): JSX.Element | null {
  const timeline = clips.find((clip) => clip.timeline !== null)?.timeline ?? null;
  // Once: it takes a walk through all frames.
  const picture = useMemo(
    () => timeline && timelinePicture(timeline.mode, endOf(timeline.source), endOf(timeline.output)),
    [timeline],
  );
  if (timeline === null || picture === null) return null;
  const { source, output } = timeline;
  const used = picture.video.filter(({ kind }) => kind !== 'unused');
  if (used.length === 1 && used[0]?.kind === 'forward') return null;
  const total = used.at(-1)?.to ?? 1;
  const speed = endOf(source) / endOf(output);
  return (
    <div class="track-source" aria-hidden="true">
      {used.map(({ kind, from, to }) => (
        <span key={from} class={`track-${kind}`} style={{ flexGrow: String((to - from) / total) }}>
          {kind === 'stretched' ? `source at ${speed.toFixed(2)}× speed` : SOURCE_TEXTS[kind]}
        </span>
      ))}
    </div>
  );
}

const SOURCE_TEXTS = {
  forward: 'source ▸',
  backward: '◂ backward',
  held: 'last frame held',
  silent: '',
  unused: '',
} as const;
