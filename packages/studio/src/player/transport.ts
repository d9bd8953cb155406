import { type Clock, framesOf, middleOf, secondsAt, usualStep } from '@lipsync/domain/clock';
import { frameShown, sourcePosition, type SourceTimeline } from './source-clock';

/** Up to here a follower catches up by playing faster or slower; beyond, by a jump. Seconds. */
const JUMP = 0.25;
/** So many milliseconds the others play on while one jumps. Then they wait, or it would be late again when it arrives. */
const PATIENCE = 150;

export interface TransportState {
  readonly playing: boolean;
  /** The output's frame that is on screen. */
  readonly frame: number;
  readonly frames: number;
  readonly speed: number;
  readonly looping: boolean;
  /** The clip that is heard; null: none. */
  readonly sounding: string | null;
}

interface Clip {
  readonly element: HTMLVideoElement;
  /** Null for outputs, which share one time. */
  readonly timeline: SourceTimeline | null;
  /** The picture on screen, where the browser tells it: its media time, in seconds, and since when, as the page counts. */
  presented: { readonly mediaTime: number; readonly at: number } | null;
  /** Where to seek when the seek under way has ended. */
  wanted: number | null;
  /** When the last seek began, as the page counts. */
  jumped: number;
  forget: () => void;
}

/**
 * One clock for several videos. An output that is heard, or the first one, is the master; the others follow it, each at
 * the time of its own that belongs to the master's. Standing still, all show the same frame. Where a computer cannot
 * play them all in time, they wait for each other: sound and pictures stop together and stay in step.
 */
export class Transport {
  #clips = new Map<string, Clip>();
  #listeners = new Set<() => void>();
  #state: TransportState = {
    playing: false,
    frame: 0,
    frames: 1,
    speed: 1,
    looping: true,
    sounding: null,
  };
  #animation = 0;
  /** Counts what starts and what stops: a browser tells late that a start came to nothing. */
  #turn = 0;
  /** When the frames of the outputs are on screen. */
  readonly clock: Clock;
  /** Seconds. A larger drift is corrected. */
  readonly #halfFrame: number;

  /** `clock`: when the frames of the outputs are on screen. `sounding`: the clip that is heard first. */
  constructor({ clock, sounding }: { readonly clock: Clock; readonly sounding: string | null }) {
    this.clock = clock;
    this.#halfFrame = usualStep(clock) / clock.timescale / 2;
    this.#set({ frames: framesOf(clock), sounding });
  }

  get state(): TransportState {
    return this.#state;
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Adds a loaded video. Its own controls must not be used from now on. */
  add(name: string, element: HTMLVideoElement, timeline: SourceTimeline | null): () => void {
    const clip: Clip = {
      element,
      timeline,
      presented: null,
      wanted: null,
      jumped: 0,
      forget: () => undefined,
    };
    const goOn = (): void => this.#seekOn(clip);
    element.addEventListener('seeked', goOn);
    const stopWatching = watchPictures(clip);
    clip.forget = () => {
      stopWatching();
      element.removeEventListener('seeked', goOn);
      element.pause();
    };
    element.muted = name !== this.#state.sounding;
    this.#clips.set(name, clip);
    this.#show(clip, this.#state.frame);
    return () => {
      clip.forget();
      this.#clips.delete(name);
      if (this.#state.sounding === name) this.listenTo(null);
    };
  }

  /** The clip that is heard, as the only one. */
  listenTo(name: string | null): void {
    for (const [other, { element }] of this.#clips) element.muted = other !== name;
    this.#set({ sounding: name });
  }

  async play(): Promise<void> {
    const master = this.#master();
    if (master === undefined || this.#state.playing) return;
    if (this.#state.frame >= this.#state.frames - 1) this.seek(0);
    this.#set({ playing: true });
    const turn = ++this.#turn;
    const begins = await master.element.play().then(
      () => true,
      // The browser refused, or a pause came first.
      () => false,
    );
    if (turn !== this.#turn) return;
    if (begins) this.#animation = requestAnimationFrame(this.#tick);
    else this.pause();
  }

  pause(): void {
    this.#turn += 1;
    cancelAnimationFrame(this.#animation);
    const frame = this.#playedFrame();
    this.#set({ playing: false });
    for (const { element } of this.#clips.values()) element.pause();
    this.seek(frame);
  }

  toggle(): void {
    if (this.#state.playing) this.pause();
    else void this.play();
  }

  /** Shows a frame everywhere. Playing goes on from there. */
  seek(frame: number): void {
    const wanted = Math.min(this.#state.frames - 1, Math.max(0, Math.round(frame)));
    this.#set({ frame: wanted });
    for (const clip of this.#clips.values()) this.#show(clip, wanted);
  }

  step(frames: number): void {
    if (this.#state.playing) this.pause();
    this.seek(this.#state.frame + frames);
  }

  /** Moves on by so many seconds of the output, or back. */
  skip(seconds: number): void {
    if (this.#state.playing) this.pause();
    this.seek(frameShown(this.clock, secondsAt(this.clock, this.#state.frame) + seconds));
  }

  setSpeed(speed: number): void {
    this.#set({ speed });
  }

  setLooping(looping: boolean): void {
    this.#set({ looping });
  }

  close(): void {
    cancelAnimationFrame(this.#animation);
    for (const { forget } of this.#clips.values()) forget();
    this.#clips.clear();
    this.#listeners.clear();
  }

  #outputs(): Clip[] {
    return [...this.#clips.values()].filter(({ timeline }) => timeline === null);
  }

  /** The output that is heard, or the first. The source jumps and turns, so it is never the clock. */
  #master(): Clip | undefined {
    const heard = this.#clips.get(this.#state.sounding ?? '');
    return heard?.timeline === null ? heard : this.#outputs()[0];
  }

  /** Frame of a clip beside an output frame, and its speed there. */
  #position({ timeline }: Clip, frame: number): { frame: number; rate: number } {
    return timeline === null ? { frame, rate: 1 } : sourcePosition(timeline, frame);
  }

  #clockOf({ timeline }: Clip): Clock {
    return timeline === null ? this.clock : timeline.source;
  }

  #playedFrame(): number {
    const master = this.#master();
    if (master === undefined) return this.#state.frame;
    const { presented, element } = master;
    const shown = presented !== null && isFresh(presented) ? presented.mediaTime : element.currentTime;
    return frameShown(this.clock, shown);
  }

  /** Seeks a clip to what it shows beside an output frame. */
  #show(clip: Clip, frame: number): void {
    clip.wanted = middleOf(this.#clockOf(clip), this.#position(clip, frame).frame);
    if (!clip.element.seeking) this.#seekOn(clip);
  }

  /** A seek during a seek would start it over and never end while someone scrubs: only the last one waits. */
  #seekOn(clip: Clip): void {
    const { wanted, element } = clip;
    clip.wanted = null;
    if (wanted !== null && Math.abs(element.currentTime - wanted) >= 1e-4) jump(clip, wanted);
  }

  readonly #tick = (): void => {
    const master = this.#master();
    if (!this.#state.playing || master === undefined) return;
    const frame = this.#playedFrame();
    if (master.element.ended || frame >= this.#state.frames - 1) {
      this.#end();
      return;
    }
    if (frame !== this.#state.frame) this.#set({ frame });
    if (this.#isWaiting(master)) {
      for (const { element } of this.#clips.values()) element.pause();
    } else {
      // It may have been catching up until it became the master.
      master.element.playbackRate = this.#state.speed;
      start(master);
      for (const clip of this.#clips.values()) if (clip !== master) this.#follow(clip, master);
    }
    this.#animation = requestAnimationFrame(this.#tick);
  };

  /** Whether a seek under way keeps the others. The source's steps backward keep nobody: sound would stop at each. */
  #isWaiting(master: Clip): boolean {
    if (master.element.seeking) return true;
    return [...this.#clips.values()].some(
      (clip) =>
        clip.element.seeking &&
        performance.now() - clip.jumped > PATIENCE &&
        this.#position(clip, this.#state.frame).rate > 0,
    );
  }

  #end(): void {
    if (!this.#state.looping) {
      this.pause();
      this.seek(this.#state.frames - 1);
      return;
    }
    this.seek(0);
    this.#animation = requestAnimationFrame(this.#tick);
  }

  /** Holds a clip at the master's time: by its speed if little is missing, by a jump otherwise. */
  #follow(clip: Clip, master: Clip): void {
    const { element } = clip;
    if (element.seeking) return;
    const time = timeOf(master);
    const beside = frameShown(this.clock, time);
    const { frame, rate } = this.#position(clip, beside);
    const clock = this.#clockOf(clip);
    if (rate <= 0) {
      // No browser plays backward: it steps.
      element.pause();
      if (frameShown(clock, element.currentTime) !== frame) jump(clip, middleOf(clock, frame));
      return;
    }
    // Within a frame the clip moves at its own rate.
    const passed = time - middleOf(this.clock, beside);
    const wanted = clip.timeline === null ? time : middleOf(clock, frame) + passed * rate;
    const missing = wanted - timeOf(clip);
    if (Math.abs(missing) > JUMP) {
      jump(clip, wanted);
    } else {
      const correction = Math.abs(missing) > this.#halfFrame ? 1 + missing / JUMP : 1;
      element.playbackRate = playable(this.#state.speed * rate * correction);
    }
    start(clip);
  }

  #set(change: Partial<TransportState>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }
}

function start({ element }: Clip): void {
  // A pause that comes first rejects it.
  if (element.paused) void element.play().catch(() => undefined);
}

function jump(clip: Clip, seconds: number): void {
  clip.jumped = performance.now();
  // The picture that is on screen says nothing about the time from here on.
  clip.presented = null;
  clip.element.currentTime = seconds;
}

/** Browsers refuse other speeds. */
function playable(speed: number): number {
  return Math.min(16, Math.max(0.0625, speed));
}

/** `currentTime` may be a frame away from the picture: the time of the picture itself, moved on since it was shown. */
function timeOf({ element, presented }: Clip): number {
  if (presented === null || element.paused || !isFresh(presented)) return element.currentTime;
  return presented.mediaTime + (Math.max(0, performance.now() - presented.at) / 1000) * element.playbackRate;
}

/** A picture that stands longer is stuck or not drawn, and nothing is known but the clock of the sound. */
function isFresh({ at }: { readonly at: number }): boolean {
  return performance.now() - at < 200;
}

/** Notes each picture that comes on screen. */
function watchPictures(clip: Clip): () => void {
  const { element } = clip;
  // Firefox before 132 has no such callback.
  if (!('requestVideoFrameCallback' in element)) return () => undefined;
  let handle = 0;
  const watch = (): void => {
    handle = element.requestVideoFrameCallback((_now, { mediaTime, expectedDisplayTime }) => {
      clip.presented = { mediaTime, at: expectedDisplayTime };
      watch();
    });
  };
  watch();
  return () => element.cancelVideoFrameCallback(handle);
}
