import { type Engine, type SyncMode } from '@lipsync/client';

/** What this browser remembers of a render. Names and pictures are not known to the service. */
export interface RecentRender {
  readonly id: string;
  readonly createdAt: string;
  readonly expiresAt: string;
  readonly engines: readonly Engine[];
  readonly syncMode: SyncMode;
  readonly videoName: string;
  readonly voiceName: string;
  /** Where the video or the voice came from, if not from a file. */
  readonly videoUrl?: string;
  readonly voiceUrl?: string;
  /** A small picture of the video as a data URL, if it could be drawn. */
  readonly picture?: string;
}

/** A video that was prepared here, to be chosen for later renders. */
export interface RecentPreparation {
  readonly id: string;
  readonly videoAssetId: string;
  readonly expiresAt: string;
  readonly videoName: string;
  readonly seconds?: number;
  readonly picture?: string;
}

interface Remembered {
  readonly renders: readonly RecentRender[];
  readonly preparations: readonly RecentPreparation[];
}

const STORAGE_KEY = 'lipsync-studio.recent';
const KEPT = 24;
const NOTHING: Remembered = { renders: [], preparations: [] };

type Store = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

/** Renders and preparations of this browser, newest first, without what has expired. Holds no key. */
export class RecentRenders {
  readonly #store: Store;
  readonly #now: () => number;
  #remembered: Remembered;
  #listeners = new Set<() => void>();

  constructor(store: Store, now: () => number = Date.now) {
    this.#store = store;
    this.#now = now;
    this.#remembered = read(store);
  }

  get renders(): readonly RecentRender[] {
    return this.#remembered.renders.filter(this.#isLive);
  }

  get preparations(): readonly RecentPreparation[] {
    return this.#remembered.preparations.filter(this.#isLive);
  }

  addRender(render: RecentRender): void {
    const { renders, preparations } = this.#remembered;
    this.#write({ renders: [render, ...renders.filter(({ id }) => id !== render.id)], preparations });
  }

  addPreparation(preparation: RecentPreparation): void {
    const { renders, preparations } = this.#remembered;
    const others = preparations.filter(({ id }) => id !== preparation.id);
    this.#write({ renders, preparations: [preparation, ...others] });
  }

  forget(id: string): void {
    const { renders, preparations } = this.#remembered;
    const isOther = (entry: { id: string }): boolean => entry.id !== id;
    this.#write({ renders: renders.filter(isOther), preparations: preparations.filter(isOther) });
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly #isLive = ({ expiresAt }: { readonly expiresAt: string }): boolean =>
    Date.parse(expiresAt) > this.#now();

  #write({ renders, preparations }: Remembered): void {
    this.#remembered = {
      renders: renders.filter(this.#isLive).slice(0, KEPT),
      preparations: preparations.filter(this.#isLive).slice(0, KEPT),
    };
    try {
      this.#store.setItem(STORAGE_KEY, JSON.stringify(this.#remembered));
    } catch {
      // Full, or forbidden by the browser's settings: remembered until the tab is closed.
    }
    for (const listener of this.#listeners) listener();
  }
}

/** What another version has written, or somebody by hand, is forgotten. */
function read(store: Store): Remembered {
  try {
    const stored: unknown = JSON.parse(store.getItem(STORAGE_KEY) ?? 'null');
    if (typeof stored !== 'object' || stored === null) return NOTHING;
    const { renders, preparations } = stored as Partial<Remembered>;
    return Array.isArray(renders) && Array.isArray(preparations) ? { renders, preparations } : NOTHING;
  } catch {
    return NOTHING;
  }
}
