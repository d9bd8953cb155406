import './recent-list.css';
import { type LipSync } from '@lipsync/client';
import { type JSX } from 'preact';
import { hashOf } from '../route';
import { dateText } from '../shared/date-text';
import { engineName } from '../shared/engines';
import { Icon } from '../shared/icons';
import { StatusChip } from '../shared/status-chip';
import { type History } from './history';
import { type RecentRender } from './recent-work';
import { useRecentStates } from './use-recent-states';

interface RecentListProps {
  readonly client: LipSync;
  readonly history: History;
  readonly renders: readonly RecentRender[];
}

/** The renders of whoever is signed in, as far as this browser remembers them. */
export function RecentList({ client, history, renders }: RecentListProps): JSX.Element | null {
  useRecentStates(client, history);
  if (renders.length === 0) return null;
  return (
    <section class="recent" aria-labelledby="recent-heading">
      <header>
        <h2 id="recent-heading">Recent renders</h2>
        <span class="soft small">In this browser, until they expire or you sign out.</span>
      </header>
      <ul>
        {renders.map((render) => (
          <li key={render.id} class="card">
            <a href={hashOf({ page: 'render', id: render.id })}>
              <span class="recent-picture">
                {render.picture === undefined ? <Icon name="film" /> : <img src={render.picture} alt="" />}
              </span>
              <span class="recent-name">
                {render.videoName} <span class="soft">with</span> {render.voiceName}
              </span>
              <span class="soft small recent-facts">
                {render.status !== undefined && (
                  <StatusChip status={render.status} percent={render.percent} />
                )}
                <span>
                  {enginesText(render.engines)} · {dateText(render.createdAt)}
                </span>
              </span>
            </a>
            <button
              type="button"
              class="button button-quiet button-icon"
              aria-label={`Forget ${render.videoName} with ${render.voiceName}`}
              title="Forget it in this browser"
              onClick={() => history.forget(render.id)}
            >
              <Icon name="close" size={16} />
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function enginesText(engines: readonly string[]): string {
  return engines.length === 1 ? engines.map(engineName).join() : `${engines.length} engines`;
}
