import { browserStore } from '../shared/browser-store';

export const THEMES = ['auto', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const STORAGE_KEY = 'lipsync-studio.theme';

export function storedTheme(): Theme {
  return THEMES.find((theme) => theme === browserStore.getItem(STORAGE_KEY)) ?? 'auto';
}

/** The styles follow the attribute, and the system without it. */
export function applyTheme(theme: Theme): void {
  browserStore.setItem(STORAGE_KEY, theme);
  if (theme === 'auto') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
}
