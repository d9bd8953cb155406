import './connection-line.css';
import { type JSX } from 'preact';
import { Icon } from '../shared/icons';
import { type Lost } from './connection';

const TEXTS: Readonly<Record<Lost, string>> = {
  offline: 'You are offline. Renders go on at the service, and this page goes on when you are back.',
  silent: 'The service does not answer. This page keeps trying, and what you have chosen is still here.',
};

/** Says at once that the service cannot be reached, wherever the page is scrolled to. */
export function ConnectionLine({ lost }: { readonly lost: Lost | null }): JSX.Element {
  return (
    <div class="connection" role="status">
      {lost !== null && (
        <p>
          <Icon name="warning" size={16} />
          {TEXTS[lost]}
        </p>
      )}
    </div>
  );
}
