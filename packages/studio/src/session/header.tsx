import './header.css';
import { type JSX } from 'preact';
import { useState } from 'preact/hooks';
import { Icon, type IconName } from '../shared/icons';
import { applyTheme, storedTheme, type Theme, THEMES } from './theme';

interface HeaderProps {
  readonly wide: boolean;
  readonly signedIn: boolean;
  readonly onSignIn: () => void;
  readonly onSignOut: () => void;
}

export function Header({ wide, signedIn, onSignIn, onSignOut }: HeaderProps): JSX.Element {
  return (
    <header class={wide ? 'header header-wide' : 'header'}>
      <a class="brand" href="#/" aria-label="Lipsync Studio, new render">
        <svg width="28" height="28" viewBox="0 0 32 32" aria-hidden="true">
          <rect width="32" height="32" rx="9" class="brand-ground" />
          <path
            class="brand-lips"
            d="M5 16c3.2-3.7 5.9-5.5 8.1-5.5 1.2 0 2.1.5 2.9 1.3.8-.8 1.7-1.3 2.9-1.3 2.2 0 4.9 1.8 8.1 5.5-3.4 4.3-7 6.5-11 6.5S8.4 20.3 5 16Z"
          />
          <path class="brand-line" d="M8.5 16h15" />
        </svg>
        <span>
          Lipsync <b>Studio</b>
        </span>
      </a>
      <nav aria-label="Studio">
        <a class="button button-quiet" href="/docs" target="_blank">
          Docs
        </a>
        <a class="button button-quiet header-reference" href="/docs/reference" target="_blank">
          Reference
        </a>
        <ThemeSwitch />
        {signedIn ? (
          <button
            type="button"
            class="button"
            title="Ends the session in all tabs and deletes what this browser remembers of it"
            onClick={onSignOut}
          >
            Sign out
          </button>
        ) : (
          <button type="button" class="button button-primary" onClick={onSignIn}>
            <Icon name="key" size={16} />
            Sign in
          </button>
        )}
      </nav>
    </header>
  );
}

const THEME_ICONS: Readonly<Record<Theme, IconName>> = { auto: 'auto', light: 'sun', dark: 'moon' };
const THEME_TEXTS: Readonly<Record<Theme, string>> = {
  auto: 'same as the system',
  light: 'light',
  dark: 'dark',
};

/** One button for three states: a menu would be larger than what it does. */
function ThemeSwitch(): JSX.Element {
  const [theme, setTheme] = useState(storedTheme());
  const next = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'auto';
  const label = `Colors: ${THEME_TEXTS[theme]}. Change to ${THEME_TEXTS[next]}`;
  return (
    <button
      type="button"
      class="button button-quiet button-icon"
      aria-label={label}
      title={label}
      onClick={() => {
        applyTheme(next);
        setTheme(next);
      }}
    >
      <Icon name={THEME_ICONS[theme]} />
    </button>
  );
}
