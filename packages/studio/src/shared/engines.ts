import { type Engine } from '@lipsync/client';

/** What people read about an engine. A newer service may name others. */
export const ENGINE_TEXTS: Readonly<
  Record<Engine, { readonly name: string; readonly role: string; readonly sentence: string }>
> = {
  musetalk: {
    name: 'MuseTalk',
    role: 'Fastest',
    sentence: 'Draws each frame on its own, in one step. Good for drafts and long clips.',
  },
  latentsync: {
    name: 'LatentSync',
    role: 'Smoother',
    sentence: 'Draws sixteen frames at a time, so that lips move smoothly. Takes several times as long.',
  },
  highsync: {
    name: 'HighSync',
    role: 'Calmest',
    sentence: 'Refines whole stretches of the clip together, for the calmest picture. Takes the longest.',
  },
};

export function engineName(engine: string): string {
  return Object.entries(ENGINE_TEXTS).find(([known]) => known === engine)?.[1].name ?? engine;
}
