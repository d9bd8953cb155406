import { type LipSync } from '@lipsync/client';
import { useState } from 'preact/hooks';
import { keepVideo } from '../history/media-store';
import { type RecentRenders } from '../history/recent-renders';
import { renderStageText } from '../render/stages';
import { type Choice, inputOf, nameOf, rememberUpload, secondsOf } from './choice';
import { type PreparationWork } from './prepare-line';
import { pictureOf } from './use-submission';

interface PreparationOptions {
  readonly recent: RecentRenders;
  readonly onPrepared: (video: Choice) => void;
}

/** The share of the line that the upload takes. */
const UPLOAD_SHARE = 0.3;

/** Uploads and analyzes a video, and puts the preparation in its place. */
export function usePreparation({ recent, onPrepared }: PreparationOptions): {
  work: PreparationWork | null;
  prepare: (client: LipSync, video: Choice) => Promise<void>;
} {
  const [work, setWork] = useState<PreparationWork | null>(null);

  const prepare = async (client: LipSync, video: Choice): Promise<void> => {
    const controller = new AbortController();
    const { signal } = controller;
    const show = (text: string, progress: number): void =>
      setWork({ text, progress, cancel: () => controller.abort() });
    show('Uploading', 0);
    try {
      const created = await client.preparations.create(
        { video: inputOf('video', video) },
        { signal, onUpload: (_video, sent, total) => show('Uploading', (UPLOAD_SHARE * sent) / total) },
      );
      rememberUpload(video, created.video_asset_id);
      const done = await client.preparations.wait(created, {
        signal,
        onChange: ({ stage, progress_percent: percent }) =>
          show(renderStageText(stage), UPLOAD_SHARE + ((1 - UPLOAD_SHARE) * percent) / 100),
      });
      const seconds = done.preparation?.duration_seconds ?? secondsOf(video);
      const picture = pictureOf(video);
      const file = video.kind === 'file' ? video.file : null;
      const preparation = {
        id: done.id,
        videoAssetId: done.video_asset_id,
        expiresAt: done.expires_at,
        videoName: nameOf(video),
        ...(seconds !== null && { seconds }),
        ...(picture !== undefined && { picture }),
      };
      recent.addPreparation(preparation);
      if (file !== null) await keepVideo(done.id, file);
      onPrepared({ kind: 'prepared', preparation, file });
    } finally {
      setWork(null);
    }
  };
  return { work, prepare };
}
