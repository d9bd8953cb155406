import { type SyncMode } from '@lipsync/client';

/** What people read about a sync mode. */
export const SYNC_MODE_TEXTS: Readonly<
  Record<SyncMode, { readonly name: string; readonly sentence: string }>
> = {
  cut_off: { name: 'Cut off', sentence: 'Ends with the shorter of the two.' },
  loop: { name: 'Loop', sentence: 'As long as the voice: the video starts over.' },
  bounce: { name: 'Bounce', sentence: 'As long as the voice: the video plays forward and backward.' },
  remap: { name: 'Remap', sentence: 'As long as the voice: the video is slowed or sped up.' },
  silence: {
    name: 'Silence',
    sentence: 'As long as the longer: the last picture is held, or silence added.',
  },
};

export const SYNC_MODES = Object.keys(SYNC_MODE_TEXTS) as readonly SyncMode[];

/** The mode of a record; null for a mode of a newer service. */
export function syncModeOf(text: string): SyncMode | null {
  return SYNC_MODES.find((mode) => mode === text) ?? null;
}
