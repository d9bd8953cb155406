import { type Engine, type SyncMode } from '@lipsync/client';
import { type Store } from '../shared/browser-store';

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
  /** As the service last said it, or “gone” if it no longer knows the render. */
  readonly status?: string;
  readonly percent?: number;
  /** From its creation to its end, if it was completed. */
  readonly tookSeconds?: number;
  /** The length of the result: expected at first, then measured. */
  readonly outputSeconds?: number;
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

/** Newest first. */
export interface RecentWork {
  readonly renders: readonly RecentRender[];
  readonly preparations: readonly RecentPreparation[];
}

export const NOTHING: RecentWork = { renders: [], preparations: [] };

const NAME = 'lipsync-studio.recent';
/** How many are kept of each kind. */
const KEPT = 24;

/** The work of the stored owner, without entries that have expired or are damaged. Null if there is none. */
export function readRecentWork(store: Store, now: number): (RecentWork & { readonly owner: string }) | null {
  const { owner, renders, preparations } = fieldsOf(parse(store.getItem(NAME)));
  if (!isText(owner)) return null;
  const live = <Entry extends { expiresAt: string }>(entries: unknown, form: Form<Entry>): Entry[] =>
    Array.isArray(entries)
      ? entries.filter((entry) => fits(entry, form)).filter(({ expiresAt }) => Date.parse(expiresAt) > now)
      : [];
  return { owner, renders: live(renders, RENDER), preparations: live(preparations, PREPARATION) };
}

/** Replaces what is stored, whoever owns it. */
export function writeRecentWork(store: Store, owner: string, { renders, preparations }: RecentWork): void {
  if (renders.length + preparations.length === 0) {
    store.removeItem(NAME);
    return;
  }
  const kept = { owner, renders: renders.slice(0, KEPT), preparations: preparations.slice(0, KEPT) };
  store.setItem(NAME, JSON.stringify(kept));
}

export function eraseRecentWork(store: Store): void {
  store.removeItem(NAME);
}

type Check = (value: unknown) => boolean;
type Form<Entry> = Readonly<Record<keyof Entry, Check>>;

const isText = (value: unknown): value is string => typeof value === 'string';
const isTime: Check = (value) => isText(value) && !Number.isNaN(Date.parse(value));
const isTexts: Check = (value) => Array.isArray(value) && value.every(isText);
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);

const RENDER: Form<Required<RecentRender>> = {
  id: isText,
  createdAt: isTime,
  expiresAt: isTime,
  engines: isTexts,
  syncMode: isText,
  videoName: isText,
  voiceName: isText,
  videoUrl: optional(isText),
  voiceUrl: optional(isText),
  picture: optional(isText),
  status: optional(isText),
  percent: optional(Number.isFinite),
  tookSeconds: optional(Number.isFinite),
  outputSeconds: optional(Number.isFinite),
};

const PREPARATION: Form<Required<RecentPreparation>> = {
  id: isText,
  videoAssetId: isText,
  expiresAt: isTime,
  videoName: isText,
  seconds: optional(Number.isFinite),
  picture: optional(isText),
};

/** Another version may have written it, or somebody by hand: what the page cannot show, it must not meet. */
function fits<Entry>(entry: unknown, form: Form<Entry>): entry is Entry {
  const fields = fieldsOf(entry);
  return Object.entries<Check>(form).every(([name, check]) => check(fields[name]));
}

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

function parse(text: string | null): unknown {
  try {
    return JSON.parse(text ?? 'null');
  } catch {
    return null;
  }
}
