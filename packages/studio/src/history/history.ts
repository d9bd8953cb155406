import { browserStore, type Store } from '../shared/browser-store';
import {
  eraseRecentWork,
  NOTHING,
  readRecentWork,
  type RecentPreparation,
  type RecentRender,
  type RecentWork,
  writeRecentWork,
} from './recent-work';
import { type RenderState } from './render-state';
import { eraseVideos, findVideo, forgetVideo, keepVideo, tidyVideos } from './video-store';

/**
 * What this browser remembers of the work of one owner: a list, and the videos of the last renders to compare them
 * with. A browser has one list, that of the owner who came last.
 */
export class History {
  readonly #owner: string;
  readonly #store: Store;
  readonly #now: () => number;
  readonly #listeners = new Set<() => void>();

  constructor(owner: string, store: Store = browserStore, now: () => number = Date.now) {
    this.#owner = owner;
    this.#store = store;
    this.#now = now;
  }

  /** As it is now: other tabs change it, too. */
  get work(): RecentWork {
    const stored = readRecentWork(this.#store, this.#now());
    return stored?.owner === this.#owner ? stored : NOTHING;
  }

  /** Deletes what other owners have left. */
  claim(): void {
    this.#change((work) => work);
    void tidyVideos(this.#owner);
  }

  addRender(render: RecentRender, video: File | null): void {
    this.#change(({ renders, preparations }) => ({
      renders: [render, ...renders.filter(({ id }) => id !== render.id)],
      preparations,
    }));
    if (video !== null) this.keepVideo(render, video);
  }

  /** Remembers how far a render is, if it is one that is remembered. */
  noteState(id: string, state: RenderState): void {
    const isNews = (render: RecentRender): boolean =>
      render.id === id && JSON.stringify({ ...render, ...state }) !== JSON.stringify(render);
    if (!this.work.renders.some(isNews)) return;
    this.#change(({ renders, preparations }) => ({
      renders: renders.map((render) => (render.id === id ? { ...render, ...state } : render)),
      preparations,
    }));
  }

  addPreparation(preparation: RecentPreparation, video: File | null): void {
    this.#change(({ renders, preparations }) => ({
      renders,
      preparations: [preparation, ...preparations.filter(({ id }) => id !== preparation.id)],
    }));
    if (video !== null) this.keepVideo(preparation, video);
  }

  keepVideo({ id, expiresAt }: { readonly id: string; readonly expiresAt: string }, file: File): void {
    void keepVideo({ id, expiresAt, owner: this.#owner, file });
  }

  /** The video of a render or a preparation; null if this browser does not have it (anymore). */
  findVideo(id: string): Promise<File | null> {
    return findVideo(id, this.#owner);
  }

  forget(id: string): void {
    const isOther = (entry: { readonly id: string }): boolean => entry.id !== id;
    this.#change(({ renders, preparations }) => ({
      renders: renders.filter(isOther),
      preparations: preparations.filter(isOther),
    }));
    void forgetVideo(id);
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  #change(change: (work: RecentWork) => RecentWork): void {
    writeRecentWork(this.#store, this.#owner, change(this.work));
    for (const listener of this.#listeners) listener();
  }
}

/** Deletes what has expired or is damaged, whoever owns it. */
export function tidyHistory(store: Store = browserStore, now: number = Date.now()): void {
  const stored = readRecentWork(store, now);
  if (stored === null) eraseRecentWork(store);
  else writeRecentWork(store, stored.owner, stored);
  void tidyVideos();
}

/** Deletes everything. */
export function eraseHistory(): void {
  eraseRecentWork(browserStore);
  void eraseVideos();
}
