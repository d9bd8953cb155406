import './studio.css';
import { ApiError, LipSync } from '@lipsync/client';
import { type JSX } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { type Failure, failureOf } from './errors/failure';
import { FIRST_CHOICES, type RenderChoices } from './form/choice';
import { RenderForm } from './form/render-form';
import { usePreparation } from './form/use-preparation';
import { useSubmission } from './form/use-submission';
import { forgetVideo } from './history/media-store';
import { RecentList } from './history/recent-list';
import { RecentRenders } from './history/recent-renders';
import { RenderPage } from './render/render-page';
import { useRoute } from './route';
import { storedKey, storeKey } from './session/api-key';
import { checkKey } from './session/check-key';
import { Header } from './session/header';
import { KeyDialog } from './session/key-dialog';

const recent = new RecentRenders(localStorage);

/** The page: the form of a new render, or one render. Choices outlive both, and a refused key. */
export function Studio(): JSX.Element {
  const [route, go] = useRoute();
  const [key, setKey] = useState(storedKey);
  const [asking, setAsking] = useState<'first' | 'refused' | null>(key === null ? 'first' : null);
  const [choices, setChoices] = useState<RenderChoices>(FIRST_CHOICES);
  const [failure, setFailure] = useState<Failure | null>(null);
  // What to do once a key is there.
  const [pending, setPending] = useState<'render' | 'prepare' | null>(null);
  const [, setRemembered] = useState(0);
  useEffect(() => recent.subscribe(() => setRemembered((count) => count + 1)), []);

  const client = useMemo(
    () => (key === null ? null : new LipSync({ apiKey: key, baseUrl: location.origin })),
    [key],
  );

  const signOut = (reason: 'first' | 'refused' | null): void => {
    storeKey(null);
    setKey(null);
    setAsking(reason);
  };
  /** Tells whether the error is the key's: then a new one is asked for, and the error needs no other words. */
  const isOfKey = (error: unknown): boolean => {
    if (!(error instanceof ApiError) || error.code !== 'invalid_api_key') return false;
    signOut('refused');
    return true;
  };

  const submission = useSubmission({ recent, onCreated: (id) => go({ page: 'render', id }) });
  const preparation = usePreparation({
    recent,
    onPrepared: (video) => setChoices((now) => ({ ...now, video })),
  });

  const run = async (what: 'render' | 'prepare', using: LipSync | null): Promise<void> => {
    setFailure(null);
    setPending(what);
    if (using === null) {
      setAsking('first');
      return;
    }
    try {
      if (what === 'render') await submission.submit(using, choices);
      else if (choices.video !== null) await preparation.prepare(using, choices.video);
      setPending(null);
    } catch (error) {
      if (isOfKey(error)) return;
      setPending(null);
      setFailure(failureOf(error));
      leaveLostPreparation(error);
    }
  };
  /** A preparation that is gone is not offered again; its video stays chosen, if this browser has it. */
  const leaveLostPreparation = (error: unknown): void => {
    const { video } = choices;
    if (!(error instanceof ApiError) || video?.kind !== 'prepared') return;
    if (!['preparation_not_found', 'preparation_expired', 'asset_expired'].includes(error.code)) return;
    recent.forget(video.preparation.id);
    const { file, preparation: lost } = video;
    const left = file && {
      kind: 'file' as const,
      file,
      url: URL.createObjectURL(file),
      seconds: lost.seconds ?? null,
    };
    setChoices((now) => ({ ...now, video: left }));
  };
  const signIn = async (entered: string): Promise<string | null> => {
    const problem = await checkKey(entered);
    if (problem !== null) return problem;
    storeKey(entered);
    setKey(entered);
    setAsking(null);
    if (pending !== null) void run(pending, new LipSync({ apiKey: entered, baseUrl: location.origin }));
    return null;
  };

  return (
    <>
      <Header
        wide={route.page === 'render'}
        signedIn={key !== null}
        onSignIn={() => setAsking('first')}
        onSignOut={() => signOut(null)}
      />
      <main class={route.page === 'render' ? 'page page-wide' : 'page'}>
        {route.page === 'render' ? (
          <RenderPage
            id={route.id}
            client={client}
            recent={recent.renders.find(({ id }) => id === route.id) ?? null}
            onError={isOfKey}
            onAgain={() => go({ page: 'new' })}
          />
        ) : (
          <>
            <div class="page-head">
              <h1>Put a voice into a face</h1>
              <p class="soft">
                Choose a video of someone who talks and the voice they shall speak with. Compare up to three
                engines, frame by frame.
              </p>
            </div>
            <RenderForm
              choices={choices}
              preparations={recent.preparations}
              preparing={preparation.work}
              sending={submission.sending}
              failure={failure}
              onChange={(change) => setChoices((now) => ({ ...now, ...change }))}
              onPrepare={() => void run('prepare', client)}
              onRender={() => void run('render', client)}
            />
            <RecentList
              renders={recent.renders}
              onForget={(id) => {
                recent.forget(id);
                void forgetVideo(id);
              }}
            />
          </>
        )}
      </main>
      {asking !== null && (
        <KeyDialog refused={asking === 'refused'} onKey={signIn} onClose={() => setAsking(null)} />
      )}
    </>
  );
}
