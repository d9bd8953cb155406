import { ApiError, ConnectionError } from '@lipsync/client';
import { type JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { FIRST_CHOICES, isSame, type RenderChoices } from './form/choice';
import { type FormFailure, formFailureOf } from './form/form-failure';
import { RenderForm } from './form/render-form';
import { usePreparation } from './form/use-preparation';
import { useSubmission } from './form/use-submission';
import { RecentList } from './history/recent-list';
import { useHistory } from './history/use-history';
import { RenderPage } from './render/render-page';
import { type Route } from './route';
import { connectionLost } from './session/connection';
import { type Session } from './session/session';

interface WorkspaceProps {
  /** Null while nobody is signed in. */
  readonly session: Session | null;
  /** Whether the service can be reached, as far as this page knows. */
  readonly isReached: boolean;
  readonly route: Route;
  readonly go: (route: Route) => void;
  /** A key is needed to go on. */
  readonly onAsk: () => void;
  readonly onRefused: () => void;
}

/** The form of a new render, or one render. Choices outlive both, and a refused key. */
export function Workspace(props: WorkspaceProps): JSX.Element {
  const { session, isReached, route, go, onAsk, onRefused } = props;
  const [choices, setChoices] = useState<RenderChoices>(FIRST_CHOICES);
  const [failure, setFailure] = useState<FormFailure | null>(null);
  // What to do once a key is there, and the service can be reached.
  const [pending, setPending] = useState<'render' | 'prepare' | null>(null);
  const history = session?.history ?? null;
  const { renders, preparations } = useHistory(history);

  /** Says whether an error is about the key: then another is asked for, and the error needs no other message. */
  const isOfKey = (error: unknown): boolean => {
    if (!(error instanceof ApiError) || error.code !== 'invalid_api_key') return false;
    onRefused();
    return true;
  };

  const submission = useSubmission((id) => go({ page: 'render', id }));
  const preparation = usePreparation((prepared, video) =>
    // Another one may have been chosen meanwhile: then this one is among the prepared videos.
    setChoices((now) => (now.video !== null && isSame(now.video, video) ? { ...now, video: prepared } : now)),
  );

  const run = async (what: 'render' | 'prepare'): Promise<void> => {
    // Keys repeat while they are held, and each would begin another.
    if ((what === 'render' ? submission.sending : preparation.work) !== null) return;
    setFailure(null);
    setPending(what);
    if (session === null) {
      onAsk();
      return;
    }
    if (connectionLost() !== null) return;
    try {
      if (what === 'render') await submission.submit(session, choices);
      else if (choices.video !== null) await preparation.prepare(session, choices.video);
      setPending(null);
    } catch (error) {
      if (isOfKey(error)) return;
      if (error instanceof ConnectionError && connectionLost() !== null) return;
      setPending(null);
      setFailure(formFailureOf(what, error));
      leaveLostPreparation(error);
    }
  };
  const isBusy = submission.sending !== null || preparation.work !== null;
  useEffect(() => {
    if (session !== null && isReached && pending !== null && !isBusy) void run(pending);
  }, [session, isReached]);
  /** A preparation that is gone is not offered again; its video stays chosen, if this browser has it. */
  const leaveLostPreparation = (error: unknown): void => {
    const { video } = choices;
    if (!(error instanceof ApiError) || video?.kind !== 'prepared') return;
    if (!['preparation_not_found', 'preparation_expired', 'asset_expired'].includes(error.code)) return;
    const { file, preparation: lost } = video;
    history?.forget(lost.id);
    const left = file && { kind: 'file' as const, file, seconds: lost.seconds ?? null };
    setChoices((now) => ({ ...now, video: left }));
  };

  if (route.page === 'render')
    return (
      <RenderPage
        id={route.id}
        session={session}
        isReached={isReached}
        renders={renders}
        onError={isOfKey}
        onAgain={() => go({ page: 'new' })}
      />
    );
  return (
    <>
      <div class="page-head">
        <h1>Give a face a new voice</h1>
        <p class="soft">
          Choose a video of someone talking and the voice they should speak with. Compare up to three engines,
          frame by frame.
        </p>
      </div>
      <RenderForm
        choices={choices}
        preparations={preparations}
        findVideo={async (id) => (await history?.findVideo(id)) ?? null}
        preparing={preparation.work}
        sending={submission.sending}
        failure={failure}
        waiting={
          session !== null && !isReached && pending !== null && !isBusy
            ? { cancel: () => setPending(null) }
            : null
        }
        onFailure={setFailure}
        onChange={(change) => {
          setFailure(null);
          setChoices((now) => ({ ...now, ...change(now) }));
        }}
        onPrepare={() => void run('prepare')}
        onRender={() => void run('render')}
      />
      {session !== null && <RecentList client={session.client} history={session.history} renders={renders} />}
    </>
  );
}
