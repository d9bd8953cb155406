import { type MediaType } from '@lipsync/client';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Choice, type RenderChoices } from './choice';
import { type ExaminedVideo, type ExaminedVoice, examineVideo, examineVoice } from './examine';
import { kindProblem } from './media-limits';
import { sortFiles } from './sort-files';
import { whatItIs } from './what-it-is';

export type ChangeChoices = (change: (now: RenderChoices) => Partial<RenderChoices>) => void;

interface Files {
  /** Why files were not taken, by field, until something else is chosen there. */
  readonly refused: Readonly<Partial<Record<MediaType, string | undefined>>>;
  /** Takes what fits: a file that does not leaves the choice as it was. */
  readonly take: (files: readonly File[], onto: MediaType | null) => Promise<void>;
  readonly forgive: (mediaType: MediaType) => void;
}

/** Takes files as video and voice, and looks into them; also those that are dropped anywhere on the page. */
export function useFiles(onChange: ChangeChoices): Files {
  const [refused, setRefused] = useState<Files['refused']>({});

  const take: Files['take'] = async (dropped, onto) => {
    const sorted = sortFiles(dropped, onto);
    const problems: Partial<Record<MediaType, string>> = { ...sorted.refused };
    const taken = await Promise.all(
      Object.entries(sorted.files).map(async ([name, file]) => {
        const mediaType = name as MediaType;
        if (!(await whatItIs(file)).isText) return { mediaType, file };
        problems[mediaType] = kindProblem(mediaType, file.name);
        return null;
      }),
    );
    setRefused(problems);
    for (const entry of taken) if (entry !== null) void put(entry.mediaType, entry.file);
  };

  const put = async (mediaType: MediaType, file: File): Promise<void> => {
    const field = mediaType === 'video' ? 'video' : 'voice';
    onChange(() => ({ [field]: { kind: 'file', file, seconds: null } satisfies Choice }));
    const add = (facts: Partial<ExaminedVideo & ExaminedVoice>): void =>
      // Another file may have been chosen meanwhile.
      onChange(({ [field]: now }) =>
        now?.kind === 'file' && now.file === file ? { [field]: { ...now, ...facts } } : {},
      );
    if (mediaType === 'audio') add(await examineVoice(file));
    else add(await examineVideo(file, (picture) => add({ picture })));
  };

  useDrops((files, onto) => void take(files, onto));
  return { refused, take, forgive: (mediaType) => setRefused((now) => ({ ...now, [mediaType]: undefined })) };
}

/** Files that are dropped on a field, or beside one: there a browser would leave the page and open them. */
function useDrops(onDrop: (files: readonly File[], onto: MediaType | null) => void): void {
  const current = useRef(onDrop);
  current.current = onDrop;
  useEffect(() => {
    const allow = (event: DragEvent): void => {
      if (event.dataTransfer?.types.includes('Files') === true) event.preventDefault();
    };
    const drop = (event: DragEvent): void => {
      const files = [...(event.dataTransfer?.files ?? [])];
      if (files.length === 0) return;
      event.preventDefault();
      const field = event.target instanceof Element ? event.target.closest('[data-media]') : null;
      const onto = field?.getAttribute('data-media');
      current.current(files, onto === 'video' || onto === 'audio' ? onto : null);
    };
    addEventListener('dragover', allow);
    addEventListener('drop', drop);
    return () => {
      removeEventListener('dragover', allow);
      removeEventListener('drop', drop);
    };
  }, []);
}
