import { browserStore } from '@lipsync/studio/browser-store';

const STORAGE_KEY = 'lipsync-docs.language';

/** A reader who chooses Python for one sample sees all of them in Python, also on the next page. */
export function rememberLanguage(): void {
  const tabs = [...document.querySelectorAll<HTMLInputElement>('.tabs input')];
  const choose = (language: string | null): void => {
    for (const tab of tabs) if (tab.value === language) tab.checked = true;
  };
  choose(browserStore.getItem(STORAGE_KEY));
  for (const tab of tabs)
    tab.addEventListener('change', () => {
      const top = tab.getBoundingClientRect().top;
      browserStore.setItem(STORAGE_KEY, tab.value);
      choose(tab.value);
      // Samples above may have become longer or shorter; what is read stays where it is.
      window.scrollBy({ top: tab.getBoundingClientRect().top - top, behavior: 'instant' });
    });
}
