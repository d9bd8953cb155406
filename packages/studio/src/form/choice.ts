import { type Engine, type MediaType, type SyncMode } from '@lipsync/client';
import { type RecentPreparation } from '../history/recent-work';
import { timelinePicture } from '../shared/timeline-picture';
import { durationProblem, fileProblem, urlProblem } from './media-limits';
import { type WhatItIs } from './what-it-is';

/** What was chosen as video or voice. */
export type Choice =
  | {
      readonly kind: 'file';
      readonly file: File;
      /** What the browser tells of a video or a voice; null until it has. */
      readonly seconds: number | null;
      readonly picture?: string;
      readonly unshown?: WhatItIs;
      readonly loudness?: Float32Array;
    }
  | { readonly kind: 'url'; readonly url: string }
  | { readonly kind: 'prepared'; readonly preparation: RecentPreparation; readonly file: File | null };

export interface RenderChoices {
  readonly video: Choice | null;
  readonly voice: Choice | null;
  readonly engines: readonly Engine[];
  readonly syncMode: SyncMode;
}

export const FIRST_CHOICES: RenderChoices = {
  video: null,
  voice: null,
  engines: ['musetalk'],
  syncMode: 'cut_off',
};

/** What is wrong with a choice, in a sentence; null if nothing is. */
export function choiceProblem(mediaType: MediaType, choice: Choice | null): string | null {
  switch (choice?.kind) {
    case undefined:
      return mediaType === 'video'
        ? 'A video is missing: choose one.'
        : 'A voice is missing: choose or record one.';
    case 'file':
      return fileProblem(mediaType, choice.file) ?? durationProblem(mediaType, choice.seconds ?? 0);
    case 'url':
      return urlProblem(choice.url);
    case 'prepared':
      return null;
  }
}

export type FormPart = 'video' | 'voice' | 'engines';

/** What prevents rendering, by part of the form. */
export function problems({
  video,
  voice,
  engines,
}: RenderChoices): Readonly<Record<FormPart, string | null>> {
  return {
    video: choiceProblem('video', video),
    voice: choiceProblem('audio', voice),
    engines: engines.length === 0 ? 'An engine is missing: choose one or more.' : null,
  };
}

/** What is left to do before it can be rendered, in a sentence; null if nothing is. */
export function remedy(choices: RenderChoices): string | null {
  const found = problems(choices);
  const what = (choice: Choice | null, name: string): string =>
    choice === null ? `a ${name}` : choice.kind === 'url' ? `another URL for the ${name}` : `another ${name}`;
  const needed = [
    found.video === null ? null : what(choices.video, 'video'),
    found.voice === null ? null : what(choices.voice, 'voice'),
    found.engines === null ? null : 'an engine',
  ].filter((part) => part !== null);
  if (needed.length === 0) return null;
  return `To render, choose ${new Intl.ListFormat('en', { type: 'conjunction' }).format(needed)}.`;
}

/** The length of what was chosen, where it is known. */
export function secondsOf(choice: Choice | null): number | null {
  if (choice?.kind === 'file') return choice.seconds;
  if (choice?.kind === 'prepared') return choice.preparation.seconds ?? null;
  return null;
}

/** The length of the result, where it is known beforehand. */
export function outputSecondsOf({ syncMode, video, voice }: RenderChoices): number | null {
  const [videoSeconds, voiceSeconds] = [secondsOf(video), secondsOf(voice)];
  if (videoSeconds === null || voiceSeconds === null) return null;
  return timelinePicture(syncMode, videoSeconds, voiceSeconds).outputSeconds;
}

/** Whether two choices are the same file or URL, whatever has become known of it since. */
export function isSame(a: Choice, b: Choice): boolean {
  if (a.kind === 'url') return b.kind === 'url' && a.url === b.url;
  return a.file !== null && a.file === fileOf(b);
}

/** What was chosen as a file, if this browser has it. */
export function fileOf(choice: Choice): File | null {
  return choice.kind === 'url' ? null : choice.file;
}

/** Its picture, where the browser could show one. */
export function pictureOf(choice: Choice): string | undefined {
  if (choice.kind === 'file') return choice.picture;
  return choice.kind === 'prepared' ? choice.preparation.picture : undefined;
}

export function nameOf(choice: Choice): string {
  switch (choice.kind) {
    case 'file':
      return choice.file.name;
    case 'url':
      return new URL(choice.url).pathname.split('/').at(-1) || choice.url;
    case 'prepared':
      return choice.preparation.videoName;
  }
}
