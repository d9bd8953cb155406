import { applyTheme, storedTheme, type Theme, THEMES } from '@lipsync/studio/theme';

/** The outlines of the studio's icons. */
const ICONS: Readonly<Record<Theme, string>> = {
  auto: 'M3.5 5h17v11h-17ZM9 20h6M12 16v4',
  light:
    'M12 8a4 4 0 1 0 .01 0M12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.4 1.4M17.3 17.3l1.4 1.4M18.7 5.3l-1.4 1.4M6.7 17.3l-1.4 1.4',
  dark: 'M19.5 14.5A8 8 0 0 1 9.5 4.5a8 8 0 1 0 10 10Z',
};
const TEXTS: Readonly<Record<Theme, string>> = { auto: 'same as the system', light: 'light', dark: 'dark' };

/** One button for three states, as in the studio, whose choice it shares. */
export function startThemeSwitch(): void {
  const button = document.querySelector<HTMLButtonElement>('[data-theme-switch]');
  if (button === null) return;
  const show = (): void => {
    const theme = storedTheme();
    const label = `Colors: ${TEXTS[theme]}. Change to ${TEXTS[after(theme)]}`;
    button.innerHTML = `<svg class="icon" width="18" height="18" viewBox="0 0 24 24" aria-hidden="true"><path d="${ICONS[theme]}"/></svg>`;
    button.title = label;
    button.setAttribute('aria-label', label);
    button.hidden = false;
  };
  button.addEventListener('click', () => {
    applyTheme(after(storedTheme()));
    show();
  });
  // Chosen in another tab, perhaps in the studio.
  window.addEventListener('storage', () => {
    applyTheme(storedTheme());
    show();
  });
  show();
}

const after = (theme: Theme): Theme => THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? 'auto';
