import { PreparationFailed } from '@lipsync/client';
import { useEffect, useRef, useState } from 'preact/hooks';
import { type Session } from '../session/session';
import { renderStageText } from '../shared/stages';
import { type Choice, fileOf, nameOf, pictureOf, secondsOf } from './choice';
import { type PreparationWork } from './prepare-line';
import { sendPreparation, Unanswered } from './send';

/** The share of the line that the upload takes. */
const UPLOAD_SHARE = 0.3;

/** Uploads and analyzes a video. `onPrepared` gets the choice that replaces it, and the video. */
export function usePreparation(onPrepared: (prepared: Choice, video: Choice) => void): {
  work: PreparationWork | null;
  prepare: (session: Session, video: Choice) => Promise<void>;
} {
  const [work, setWork] = useState<PreparationWork | null>(null);
  const running = useRef<AbortController | null>(null);
  // Until it has ended, asking for it again joins it.
  const { current: unanswered } = useRef(new Unanswered());
  // What ends after a sign-out must not be remembered.
  useEffect(() => () => running.current?.abort(), []);

  const prepare = async ({ client, history }: Session, video: Choice): Promise<void> => {
    const controller = new AbortController();
    const { signal } = controller;
    running.current = controller;
    const show = (text: string, progress: number): void =>
      setWork({ text, progress, cancel: () => controller.abort() });
    show('Uploading', 0);
    try {
      const created = await sendPreparation(client, unanswered, video, {
        signal,
        onUpload: (_video, sent, total) => show('Uploading', (UPLOAD_SHARE * sent) / total),
      });
      const done = await client.preparations.wait(created, {
        signal,
        onChange: ({ stage, progress_percent: percent }) =>
          show(renderStageText(stage), UPLOAD_SHARE + ((1 - UPLOAD_SHARE) * percent) / 100),
      });
      signal.throwIfAborted();
      unanswered.forget();
      const seconds = done.preparation?.duration_seconds ?? secondsOf(video);
      const picture = pictureOf(video);
      const file = fileOf(video);
      const preparation = {
        id: done.id,
        videoAssetId: done.video_asset_id,
        expiresAt: done.expires_at,
        videoName: nameOf(video),
        ...(seconds !== null && { seconds }),
        ...(picture !== undefined && { picture }),
      };
      history.addPreparation(preparation, file);
      onPrepared({ kind: 'prepared', preparation, file }, video);
    } catch (error) {
      if (error instanceof PreparationFailed) unanswered.forget();
      throw error;
    } finally {
      setWork(null);
    }
  };
  return { work, prepare };
}
