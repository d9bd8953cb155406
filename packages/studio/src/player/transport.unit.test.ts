import { constantClock, endOf, middleOf, secondsAt } from '@lipsync/domain';
import { frameShown, sourcePosition, type SourceTimeline, sourceTimeline } from './source-clock';
import { Transport } from './transport';

const REFRESH_MS = 1000 / 60;
const FRAMES = 100;
const CLOCK = constantClock({ num: 25, den: 1 }, FRAMES);

/** The screen shows pictures of videos, then runs the page's animation, as browsers do. */
const screen = {
  videos: [] as SilentVideo[],
  callbacks: new Map<number, FrameRequestCallback>(),
  handles: 0,
  refresh(): void {
    for (const video of screen.videos) video.present();
    const callbacks = [...screen.callbacks.values()];
    screen.callbacks.clear();
    for (const callback of callbacks) callback(performance.now());
  },
};

/** A video whose clock may be off. A seek takes a while, and its picture is on screen after that. */
class SilentVideo extends EventTarget {
  muted = false;
  paused = true;
  seeking = false;
  refuses = false;
  /** The frame on screen. */
  shown = -1;
  readonly seeks: number[] = [];
  readonly #clock: number;
  readonly #lag: number;
  readonly #seekMs: number;
  #rate = 1;
  #time = 0;
  #sought = 0;
  #at = performance.now();
  /** The picture of the last seek, and when it will be on screen: a refresh after the seek has ended. */
  #picture: { readonly time: number; readonly at: number } | null = null;
  #seek: ReturnType<typeof setTimeout> | undefined;

  /**
   * `clock`: how many seconds of the video pass in one. `lag`: how many seconds its pictures take. `seek`: how many
   * milliseconds a seek takes.
   */
  constructor({ clock = 1, lag = 0, seek = 30 } = {}) {
    super();
    this.#clock = clock;
    this.#lag = lag;
    this.#seekMs = seek;
    screen.videos.push(this);
  }

  get currentTime(): number {
    this.#advance();
    return this.#time;
  }

  set currentTime(time: number) {
    this.seeks.push(time);
    this.#advance();
    this.#time = this.#sought = time;
    this.seeking = true;
    clearTimeout(this.#seek);
    this.#seek = setTimeout(() => {
      this.#advance();
      this.seeking = false;
      this.#picture = { time, at: performance.now() + REFRESH_MS };
      this.dispatchEvent(new Event('seeked'));
    }, this.#seekMs);
  }

  get playbackRate(): number {
    return this.#rate;
  }

  set playbackRate(rate: number) {
    this.#advance();
    this.#rate = rate;
  }

  get ended(): boolean {
    return this.currentTime >= endOf(CLOCK);
  }

  async play(): Promise<void> {
    if (this.refuses) throw new DOMException('not without a gesture', 'NotAllowedError');
    this.#advance();
    this.paused = false;
  }

  pause(): void {
    this.#advance();
    this.paused = true;
  }

  /** It falls behind. */
  slip(seconds: number): void {
    this.#advance();
    this.#time -= seconds;
  }

  present(): void {
    if (this.#picture === null) {
      if (!this.seeking) this.#show(Math.max(this.#sought, this.currentTime - this.#late()));
    } else if (this.#picture.at <= performance.now()) {
      this.#show(this.#picture.time);
      this.#picture = null;
    }
  }

  #late(): number {
    return this.paused ? 0 : this.#lag * this.#rate;
  }

  #show(time: number): void {
    if (frameShown(CLOCK, time) === this.shown) return;
    this.shown = frameShown(CLOCK, time);
    this.report(this.shown);
  }

  /** Firefox before 132 tells nobody. */
  protected report(frame: number): void {
    void frame;
  }

  #advance(): void {
    const now = performance.now();
    const passed = (now - this.#at) / 1000;
    this.#at = now;
    if (this.paused || this.seeking) return;
    this.#time = Math.min(endOf(CLOCK), this.#time + passed * this.#rate * this.#clock);
  }
}

/** It tells which picture is on screen. */
class FakeVideo extends SilentVideo {
  #watchers = new Map<number, VideoFrameRequestCallback>();

  requestVideoFrameCallback(callback: VideoFrameRequestCallback): number {
    this.#watchers.set(++screen.handles, callback);
    return screen.handles;
  }

  cancelVideoFrameCallback(handle: number): void {
    this.#watchers.delete(handle);
  }

  protected override report(frame: number): void {
    const watchers = [...this.#watchers.values()];
    this.#watchers.clear();
    const now = performance.now();
    const metadata = {
      mediaTime: secondsAt(CLOCK, frame),
      expectedDisplayTime: now,
    } as VideoFrameCallbackMetadata;
    for (const watcher of watchers) watcher(now, metadata);
  }
}

let transport: Transport;

beforeEach(() => {
  jest.useFakeTimers();
  screen.videos = [];
  screen.callbacks.clear();
  Object.assign(globalThis, {
    requestAnimationFrame: (callback: FrameRequestCallback) => {
      screen.callbacks.set(++screen.handles, callback);
      return screen.handles;
    },
    cancelAnimationFrame: (handle: number) => screen.callbacks.delete(handle),
  });
  setInterval(() => screen.refresh(), REFRESH_MS);
  transport = new Transport({ clock: CLOCK, sounding: 'first' });
});
afterEach(() => {
  transport.close();
  jest.useRealTimers();
});

function add(name: string, video: SilentVideo, timeline: SourceTimeline | null = null): () => void {
  return transport.add(name, video as unknown as HTMLVideoElement, timeline);
}

const wait = (milliseconds: number) => jest.advanceTimersByTimeAsync(milliseconds);

/** Looks after each refresh. */
async function watch(milliseconds: number, look: () => void): Promise<void> {
  for (let passed = 0; passed < milliseconds; passed += REFRESH_MS) {
    await wait(REFRESH_MS);
    look();
  }
}

const source = (mode: SourceTimeline['mode'], videoFrames: number): SourceTimeline =>
  sourceTimeline(mode, CLOCK, { videoSeconds: secondsAt(CLOCK, videoFrames), voiceSeconds: endOf(CLOCK) });

describe('videos that stand still', () => {
  it.each(['loop', 'bounce', 'remap', 'silence'] as const)(
    'show the frame that belongs to the others, with %s',
    async (mode) => {
      const [first, second, original] = [new FakeVideo(), new FakeVideo(), new FakeVideo()];
      const timeline = source(mode, 30);
      add('source', original, timeline);
      add('first', first);
      add('second', second);
      for (const frame of [0, 1, 29, 30, 31, 59, 60, 75, FRAMES - 1]) {
        transport.seek(frame);
        await wait(100);
        expect(transport.state.frame).toBe(frame);
        expect([first.shown, second.shown]).toEqual([frame, frame]);
        expect(original.shown).toBe(sourcePosition(timeline, frame).frame);
      }
    },
  );

  it('include one that is loaded later', async () => {
    add('first', new FakeVideo());
    transport.seek(40);
    const late = new FakeVideo();
    add('second', late);
    await wait(100);
    expect(late.shown).toBe(40);
  });

  it('end where scrubbing ends, with one seek under way at a time', async () => {
    const video = new FakeVideo();
    add('first', video);
    await wait(100);
    video.seeks.length = 0;
    for (const frame of [5, 6, 7, 8, 90]) transport.seek(frame);
    expect(video.seeks).toEqual([middleOf(CLOCK, 5)]);
    await wait(100);
    expect(video.seeks).toEqual([middleOf(CLOCK, 5), middleOf(CLOCK, 90)]);
    expect(video.shown).toBe(90);
  });

  it('stay inside the output', () => {
    add('first', new FakeVideo());
    transport.seek(1e6);
    expect(transport.state.frame).toBe(FRAMES - 1);
    transport.step(-1e6);
    expect(transport.state.frame).toBe(0);
  });
});

describe('videos that play', () => {
  // At twice the speed almost a frame passes between two refreshes of the screen.
  it.each([
    [0.25, 1],
    [1, 1],
    [2, 2],
  ])(
    'at %d times the speed stay within %d frames of each other, however their clocks run',
    async (speed, frames) => {
      const first = new FakeVideo({ lag: 0.03 });
      const slow = new FakeVideo({ clock: 0.96 });
      const fast = new FakeVideo({ clock: 1.04, lag: 0.1 });
      add('first', first);
      add('slow', slow);
      add('fast', fast);
      transport.setSpeed(speed);
      await transport.play();
      // Where they begin, those that follow start a refresh later.
      await wait(500);
      await watch(1000, () => {
        for (const { shown } of [slow, fast])
          expect(Math.abs(shown - first.shown)).toBeLessThanOrEqual(frames);
        expect(transport.state.frame).toBe(first.shown);
      });
      expect(first.shown).toBeCloseTo(1.5 * speed * 25, -1);
      expect([slow.seeks, fast.seeks]).toEqual([[middleOf(CLOCK, 0)], [middleOf(CLOCK, 0)]]);
    },
  );

  it('are left alone while they are in step', async () => {
    const [second, original] = [new FakeVideo(), new FakeVideo()];
    add('first', new FakeVideo());
    add('second', second);
    add('source', original, source('loop', 50));
    await transport.play();
    await wait(500);
    await watch(1000, () => expect([second.playbackRate, original.playbackRate]).toEqual([1, 1]));
  });

  it('catch up by their speed if little is missing, and by one jump otherwise', async () => {
    const [first, second] = [new FakeVideo(), new FakeVideo()];
    add('first', first);
    add('second', second);
    await transport.play();
    await wait(300);
    second.seeks.length = 0;
    second.slip(0.12);
    await wait(1000);
    expect(second.seeks).toEqual([]);
    expect(Math.abs(second.shown - first.shown)).toBeLessThanOrEqual(1);
    second.slip(0.6);
    await wait(1200);
    expect(second.seeks).toHaveLength(1);
    expect(Math.abs(second.shown - first.shown)).toBeLessThanOrEqual(1);
  });

  it.each(['loop', 'bounce', 'remap', 'silence'] as const)(
    'keep the source at the frame that the output was made of, with %s',
    async (mode) => {
      const [output, original] = [new FakeVideo(), new FakeVideo()];
      const timeline = source(mode, 30);
      add('first', output);
      add('source', original, timeline);
      await transport.play();
      await wait(200);
      await watch(3000, () => {
        // While a seek is under way, the picture before it stands.
        const expected = [0, 1, 2, 3].map(
          (ago) => sourcePosition(timeline, Math.max(0, output.shown - ago)).frame,
        );
        expect(Math.min(...expected.map((frame) => Math.abs(original.shown - frame)))).toBeLessThanOrEqual(1);
      });
    },
  );

  it('go on showing the source where it plays backward, however slow its seeks are', async () => {
    const original = new FakeVideo({ seek: 90 });
    add('first', new FakeVideo());
    add('source', original, source('bounce', 40));
    await transport.play();
    await wait(1700);
    const shown = new Set<number>();
    await watch(1200, () => shown.add(original.shown));
    expect(shown.size).toBeGreaterThan(8);
  });

  it('wait for one whose seeks are slow, which would else be late again after each', async () => {
    const [first, slow, original] = [new FakeVideo(), new FakeVideo({ seek: 700 }), new FakeVideo()];
    add('first', first);
    add('slow', slow);
    add('source', original, source('silence', FRAMES));
    await wait(800);
    await transport.play();
    await wait(300);
    slow.seeks.length = 0;
    slow.slip(0.6);
    await wait(400);
    const shown = [first.shown, original.shown];
    await wait(300);
    expect([first.shown, original.shown]).toEqual(shown);
    await wait(1000);
    expect(slow.seeks).toHaveLength(1);
    await watch(300, () => {
      expect(transport.state.playing).toBe(true);
      expect(first.shown).toBeGreaterThan(shown[0] ?? Infinity);
      for (const video of [slow, original])
        expect(Math.abs(video.shown - first.shown)).toBeLessThanOrEqual(1);
    });
  });

  it('start over together, whichever seeks longest', async () => {
    const [first, slow] = [new FakeVideo({ seek: 400 }), new FakeVideo({ seek: 700 })];
    add('first', first);
    add('slow', slow);
    transport.seek(FRAMES - 10);
    await wait(1500);
    await transport.play();
    await wait(1000);
    expect([first.paused, slow.paused]).toEqual([true, true]);
    await wait(1000);
    expect(first.shown).toBeLessThan(40);
    expect(Math.abs(slow.shown - first.shown)).toBeLessThanOrEqual(1);
    expect([first.seeks.length, slow.seeks.length]).toEqual([3, 3]);
  });

  it('are held in step by their own clocks where the browser does not tell which picture is on screen', async () => {
    const [first, second] = [new SilentVideo(), new SilentVideo({ clock: 1.04 })];
    add('first', first);
    add('second', second);
    await transport.play();
    await wait(500);
    await watch(1000, () => expect(Math.abs(second.shown - first.shown)).toBeLessThanOrEqual(1));
  });

  it('go on at their speed when another one is heard', async () => {
    const [first, second] = [new FakeVideo(), new FakeVideo()];
    add('first', first);
    add('second', second);
    await transport.play();
    await wait(300);
    second.slip(0.2);
    await wait(50);
    expect(second.playbackRate).toBeGreaterThan(1);
    expect([first.muted, second.muted]).toEqual([false, true]);
    transport.listenTo('second');
    await wait(1000);
    expect([first.muted, second.muted]).toEqual([true, false]);
    expect([first.playbackRate, second.playbackRate]).toEqual([1, 1]);
    expect(Math.abs(second.shown - first.shown)).toBeLessThanOrEqual(1);
  });

  it('follow an output while the source is heard', async () => {
    const [output, original] = [new FakeVideo(), new FakeVideo()];
    const timeline = source('remap', 50);
    add('source', original, timeline);
    add('first', output);
    transport.listenTo('source');
    await transport.play();
    await wait(2000);
    expect([output.muted, original.muted]).toEqual([true, false]);
    expect(output.seeks).toEqual([middleOf(CLOCK, 0)]);
    expect(output.shown).toBeGreaterThan(40);
    expect(Math.abs(original.shown - sourcePosition(timeline, output.shown).frame)).toBeLessThanOrEqual(1);
    expect(transport.state.frame).toBe(output.shown);
  });

  it('stop at the frame that is on screen, all of them', async () => {
    const [first, second] = [new FakeVideo(), new FakeVideo({ clock: 1.04 })];
    add('first', first);
    add('second', second);
    await transport.play();
    await wait(700);
    const { shown } = first;
    transport.toggle();
    await wait(100);
    expect(transport.state).toMatchObject({ playing: false, frame: shown });
    expect([first, second].map(({ paused, shown: frame }) => [paused, frame])).toEqual([
      [true, shown],
      [true, shown],
    ]);
  });

  it('start over at the end while they repeat, and stop at the last frame otherwise', async () => {
    const [first, second] = [new FakeVideo(), new FakeVideo()];
    add('first', first);
    add('second', second);
    transport.seek(FRAMES - 10);
    await transport.play();
    await wait(1000);
    expect(transport.state.playing).toBe(true);
    expect(first.shown).toBeLessThan(20);
    expect(Math.abs(second.shown - first.shown)).toBeLessThanOrEqual(1);
    transport.setLooping(false);
    await wait(4000);
    expect(transport.state).toMatchObject({ playing: false, frame: FRAMES - 1 });
    expect([first.shown, second.shown]).toEqual([FRAMES - 1, FRAMES - 1]);
    await transport.play();
    await wait(100);
    expect(transport.state.frame).toBeLessThan(10);
  });

  it('stop for a step', async () => {
    const video = new FakeVideo();
    add('first', video);
    await transport.play();
    await wait(500);
    const { shown } = video;
    transport.step(-3);
    await wait(100);
    expect(transport.state).toMatchObject({ playing: false, frame: shown - 3 });
    expect(video.shown).toBe(shown - 3);
  });

  it('stand still where the browser refuses to play', async () => {
    const video = new FakeVideo();
    video.refuses = true;
    add('first', video);
    await transport.play();
    expect(transport.state.playing).toBe(false);
  });

  it('go on playing when the browser tells late that a pause came before an earlier start', async () => {
    const video = new FakeVideo();
    add('first', video);
    let tell = (): void => undefined;
    jest
      .spyOn(video, 'play')
      .mockImplementationOnce(
        () => new Promise((_, reject) => (tell = () => reject(new DOMException('paused', 'AbortError')))),
      );
    void transport.play();
    transport.pause();
    await transport.play();
    tell();
    await wait(500);
    expect(transport.state.playing).toBe(true);
    expect(video.shown).toBeGreaterThan(5);
  });

  it('are let go, and nothing is heard of one that is gone', async () => {
    const [first, second] = [new FakeVideo(), new FakeVideo()];
    const leave = add('first', first);
    add('second', second);
    await transport.play();
    leave();
    expect(first.paused).toBe(true);
    expect(transport.state.sounding).toBeNull();
    await wait(100);
    expect(transport.state.frame).toBe(second.shown);
    transport.close();
    expect(second.paused).toBe(true);
    expect(screen.callbacks.size).toBe(0);
  });
});
