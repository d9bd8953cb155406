import './studio.css';
import { type JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useRoute } from './route';
import { useConnection } from './session/connection';
import { ConnectionLine } from './session/connection-line';
import { Header } from './session/header';
import { KeyDialog } from './session/key-dialog';
import { useSession } from './session/use-session';
import { Workspace } from './workspace';

/** The page. Signing out begins a new workspace, so that nothing of the one before can stay. */
export function Studio(): JSX.Element {
  const [route, go] = useRoute();
  const [workspace, setWorkspace] = useState(0);
  const lost = useConnection();
  const { session, asking, ask, signIn, signOut, refuse } = useSession(() => {
    setWorkspace((number) => number + 1);
    go({ page: 'new' });
  });
  return (
    <>
      <ConnectionLine lost={lost} />
      <Header
        wide={route.page === 'render'}
        signedIn={session !== null}
        onSignIn={() => ask('first')}
        onSignOut={signOut}
      />
      <main class={route.page === 'render' ? 'page page-wide' : 'page'}>
        <Workspace
          key={workspace}
          session={session}
          isReached={lost === null}
          route={route}
          go={go}
          onAsk={() => ask('first')}
          onRefused={refuse}
        />
      </main>
      {asking !== null && (
        <KeyDialog refused={asking === 'refused'} onKey={signIn} onClose={() => ask(null)} />
      )}
    </>
  );
}
