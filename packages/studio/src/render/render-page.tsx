import './render-page.css';
import { type RenderRecord } from '@lipsync/client';
import { type JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ErrorPanel } from '../errors/error-panel';
import { explainCode } from '../errors/explain-error';
import { type Failure, failureOf } from '../errors/failure';
import { type RecentRender } from '../history/recent-work';
import { type Session } from '../session/session';
import { engineName } from '../shared/engines';
import { Meter } from '../shared/meter';
import { type RenderToCopy } from './copy-as';
import { CopyPanel } from './copy-panel';
import { ProgressPanel } from './progress-panel';
import { Results } from './results';
import { useOutputs } from './use-outputs';
import { useRender } from './use-render';

interface RenderPageProps {
  readonly id: string;
  /** Null while nobody is signed in. */
  readonly session: Session | null;
  /** What this browser remembers of the render. */
  readonly recent: RecentRender | null;
  /** Tells whether an error is the key's: then another key is asked for. */
  readonly onError: (error: unknown) => boolean;
  readonly onAgain: () => void;
}

/** One render, from its first stage to its results. */
export function RenderPage({ id, session, recent, onError, onAgain }: RenderPageProps): JSX.Element {
  const client = session?.client ?? null;
  const [failure, setFailure] = useState<Failure | null>(null);
  const [cancelling, setCancelling] = useState(false);
  const [source, setSource] = useState<File | null>(null);
  const fail = (error: unknown): void => {
    if (!onError(error)) setFailure(failureOf(error));
  };
  const [record, setRecord] = useRender(client, id, fail);
  const outputs = useOutputs(client, record, fail);
  useEffect(() => {
    setFailure(null);
    setSource(null);
    let isShown = true;
    void session?.history.findVideo(id).then((video) => isShown && setSource(video));
    return () => {
      isShown = false;
    };
  }, [id, session]);

  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), [id]);

  const cancel = async (): Promise<void> => {
    if (client === null) return;
    setCancelling(true);
    try {
      setRecord(await client.renders.cancel(id));
    } catch (error) {
      fail(error);
    }
    setCancelling(false);
  };

  const isRunning = record?.status === 'accepted' || record?.status === 'processing';
  const hasOutputs = record?.engines.some(({ output }) => output !== undefined) ?? false;
  return (
    <div class="render-page">
      <header class="render-head">
        {recent?.picture !== undefined && <img src={recent.picture} alt="" />}
        <div>
          <h1 ref={heading} tabIndex={-1}>
            {recent === null ? 'Render' : `${recent.videoName} `}
            {recent !== null && (
              <span class="render-voice">
                <span class="soft">with</span> {recent.voiceName}
              </span>
            )}
          </h1>
          <p class="soft small render-facts">
            {record !== null && <StatusChip status={record.status} />}
            <code>{id}</code>
          </p>
        </div>
        <button type="button" class="button" onClick={onAgain}>
          {recent === null || isRunning ? 'New render' : 'Render again'}
        </button>
      </header>
      {failure !== null && <ErrorPanel failure={failure} />}
      {record === null && failure === null && (
        <p class="soft" role="status">
          Looking for the render …
        </p>
      )}
      {isRunning && <ProgressPanel record={record} cancelling={cancelling} onCancel={() => void cancel()} />}
      {record !== null && !isRunning && <Failures record={record} onAgain={onAgain} />}
      {hasOutputs && !isRunning && !outputs.done && failure === null && (
        <div class="fetching card" role="status">
          <p>Fetching the results …</p>
          <Meter value={outputs.received} label="Results fetched" />
        </div>
      )}
      {record !== null && outputs.done && outputs.files.size > 0 && (
        <Results
          record={record}
          files={outputs.files}
          source={source}
          sourceName={recent?.videoName ?? id}
          onSource={(file) => {
            setSource(file);
            session?.history.keepVideo({ id, expiresAt: record.expires_at }, file);
          }}
        />
      )}
      {record !== null && <CopyPanel render={toCopy(record, recent)} />}
    </div>
  );
}

const STATUS_TEXTS: Readonly<Record<string, string>> = {
  accepted: 'Waiting',
  processing: 'Rendering',
  completed: 'Completed',
  failed: 'Failed',
  cancelled: 'Cancelled',
};

function StatusChip({ status }: { status: string }): JSX.Element {
  return (
    <span class="chip" data-status={status}>
      {STATUS_TEXTS[status] ?? status}
    </span>
  );
}

/** Why the render failed, or some of its engines. */
function Failures({ record, onAgain }: { record: RenderRecord; onAgain: () => void }): JSX.Element | null {
  const { status, error } = record;
  const failed = record.engines.filter((result) => result.error !== undefined);
  if (status === 'cancelled')
    return (
      <div class="notice card" role="status">
        <p>This render was cancelled. What you had chosen is still there.</p>
      </div>
    );
  const again = (
    <button type="button" class="button" onClick={onAgain}>
      {error?.retryable === true ? 'Try again' : 'Choose something else'}
    </button>
  );
  if (status === 'failed' && error !== undefined && error.code !== 'all_engines_failed')
    return (
      <ErrorPanel failure={{ ...explainCode(error.code, error.message), code: error.code }}>
        {again}
      </ErrorPanel>
    );
  if (failed.length === 0) return null;
  return (
    <>
      {failed.map(({ engine, error: reason }) => {
        const { title, hint } = explainCode(reason?.code ?? '', reason?.message ?? '');
        const failure = { title: `${engineName(engine)}: ${title.toLowerCase()}`, hint };
        return (
          <ErrorPanel
            key={engine}
            failure={reason === undefined ? failure : { ...failure, code: reason.code }}
          />
        );
      })}
      {status === 'failed' && <p>{again}</p>}
    </>
  );
}

function toCopy(record: RenderRecord, recent: RecentRender | null): RenderToCopy {
  const input = (assetId: string | undefined, name: string | undefined, kind: string) => ({
    name: name ?? kind,
    assetId: assetId ?? '',
  });
  return {
    baseUrl: location.origin,
    engines: record.engines.map(({ engine }) => engine),
    syncMode: record.sync_mode,
    ...(record.preparation_id === undefined ? {} : { preparationId: record.preparation_id }),
    video:
      recent?.videoUrl === undefined
        ? input(record.video_asset_id, recent?.videoName, 'video.mp4')
        : { url: recent.videoUrl },
    voice:
      recent?.voiceUrl === undefined
        ? input(record.audio_asset_id, recent?.voiceName, 'voice.wav')
        : { url: recent.voiceUrl },
  };
}
