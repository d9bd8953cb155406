import './render-page.css';
import { type RenderRecord } from '@lipsync/client';
import { type JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ErrorPanel } from '../errors/error-panel';
import { explainCode } from '../errors/explain-error';
import { type Failure, failureOf } from '../errors/failure';
import { type RecentRender } from '../history/recent-work';
import { stateOf } from '../history/render-state';
import { type Session } from '../session/session';
import { dateText } from '../shared/date-text';
import { engineName } from '../shared/engines';
import { StatusChip, statusText } from '../shared/status-chip';
import { SYNC_MODE_TEXTS, syncModeOf } from '../shared/sync-modes';
import { type RenderToCopy } from './copy-as';
import { CopyPanel } from './copy-panel';
import { ProgressPanel } from './progress-panel';
import { Results, ResultsOnTheirWay } from './results';
import { useOutputs } from './use-outputs';
import { useRender } from './use-render';

interface RenderPageProps {
  readonly id: string;
  /** Null while nobody is signed in. */
  readonly session: Session | null;
  readonly isReached: boolean;
  /** What this browser remembers. */
  readonly renders: readonly RecentRender[];
  /** Says whether an error is about the key: then another key is asked for. */
  readonly onError: (error: unknown) => boolean;
  readonly onAgain: () => void;
}

/** One render, from its first stage to its results. */
export function RenderPage(props: RenderPageProps): JSX.Element {
  const { id, session, isReached, renders, onError, onAgain } = props;
  const recent = renders.find((render) => render.id === id) ?? null;
  const client = session?.client ?? null;
  const [failure, setFailure] = useState<Failure | null>(null);
  const [cancelling, setCancelling] = useState(false);
  const [source, setSource] = useState<File | null>(null);
  const fail = (error: unknown): void => {
    if (!onError(error)) setFailure(failureOf(error));
  };
  const [attempt, setAttempt] = useState(0);
  const [record, setRecord] = useRender(isReached ? client : null, id, attempt, fail);
  const outputs = useOutputs(client, record, attempt, fail);
  const tryAgain = (): void => {
    setFailure(null);
    setAttempt((count) => count + 1);
  };
  useEffect(() => {
    if (isReached && failure?.isOfConnection === true) tryAgain();
  }, [isReached]);
  useEffect(() => {
    if (record !== null) session?.history.noteState(id, stateOf(record));
  }, [record]);
  useEffect(() => {
    setFailure(null);
    setSource(null);
    // Another key may belong to somebody who must not see what this one's has shown.
    setRecord(null);
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

  useEffect(() => {
    const { status = '', progress_percent: percent = 0 } = record ?? {};
    // For those who look at another tab meanwhile.
    document.title = [statusText(status, Math.floor(percent)), 'Lipsync Studio'].filter(Boolean).join(' · ');
    return () => {
      document.title = 'Lipsync Studio';
    };
  }, [record]);

  const isRunning = record?.status === 'accepted' || record?.status === 'processing';
  const hasOutputs = record?.engines.some(({ output }) => output !== undefined) ?? false;
  return (
    <div class="render-page">
      <header class="render-head">
        {recent?.picture !== undefined && !isRunning && <img src={recent.picture} alt="" />}
        <div>
          <h1 ref={heading} tabIndex={-1}>
            {recent === null
              ? record === null
                ? 'Render'
                : `Render of ${dateText(record.created_at)}`
              : `${recent.videoName} `}
            {recent !== null && (
              <span class="render-voice">
                <span class="soft">with</span> {recent.voiceName}
              </span>
            )}
          </h1>
          <p class="soft small render-facts">
            {record !== null && <StatusChip status={record.status} />}
            <code>{id}</code>
            {record !== null && <span>kept until {dateText(record.expires_at)}</span>}
          </p>
        </div>
        <button type="button" class="button" onClick={onAgain}>
          {recent === null || isRunning ? 'New render' : 'Render again'}
        </button>
      </header>
      {failure !== null && (
        <ErrorPanel failure={failure} focus>
          {failure.isOfConnection === true ? (
            <button type="button" class="button" onClick={tryAgain}>
              Try again
            </button>
          ) : undefined}
        </ErrorPanel>
      )}
      {record === null && failure === null && (
        <p class="soft" role="status">
          Looking for the render …
        </p>
      )}
      {isRunning && (
        <ProgressPanel
          record={record}
          recent={recent}
          renders={renders}
          cancelling={cancelling}
          onCancel={() => void cancel()}
        />
      )}
      {record !== null && !isRunning && <Failures record={record} onAgain={onAgain} />}
      {hasOutputs && !isRunning && !outputs.done && failure === null && (
        <ResultsOnTheirWay received={outputs.received} poster={recent?.picture} />
      )}
      {record !== null && outputs.done && outputs.files.size > 0 && (
        <Results
          record={record}
          files={outputs.files}
          source={source}
          sourceName={recent?.videoName ?? id}
          poster={recent?.picture}
          onSource={(file) => {
            setSource(file);
            session?.history.keepVideo({ id, expiresAt: record.expires_at }, file);
          }}
        />
      )}
      {recent === null && record !== null && <NotFromHere record={record} />}
      {record !== null && <CopyPanel render={toCopy(record, recent)} />}
    </div>
  );
}

/** For a render that another browser has made: what the service tells, and what it cannot tell. */
function NotFromHere({ record }: { record: RenderRecord }): JSX.Element {
  const engines = record.engines.map(({ engine }) => engineName(engine));
  const mode = syncModeOf(record.sync_mode);
  return (
    <p class="notice card soft">
      Made with {new Intl.ListFormat('en').format(engines)}, sync mode{' '}
      {mode === null ? record.sync_mode : SYNC_MODE_TEXTS[mode].name}. Only the browser that made it knows the
      names of its files and has the video; progress and results come from the service and are all here.
    </p>
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
