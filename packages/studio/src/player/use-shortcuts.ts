import { useEffect, useRef } from 'preact/hooks';
import { isTakenBy, type Shortcut, shortcutOf } from './shortcuts';

/** Listens to the keys of the whole page, except where something else uses them, and while a dialog is open. */
export function useShortcuts(act: (shortcut: Shortcut) => void): void {
  const current = useRef(act);
  current.current = act;
  useEffect(() => {
    let isTabbing = false;
    let reachedByTab: EventTarget | null = null;
    const onFocus = ({ target }: FocusEvent): void => {
      reachedByTab = isTabbing ? target : null;
    };
    const onPointer = (): void => {
      isTabbing = false;
    };
    // After a choice with the mouse, keys are the player's again.
    const onChange = ({ target }: Event): void => {
      if (target instanceof HTMLSelectElement && target !== reachedByTab) target.blur();
    };
    const onKey = (event: KeyboardEvent): void => {
      isTabbing = event.key === 'Tab';
      const shortcut = shortcutOf(event);
      if (shortcut === null || document.querySelector('dialog[open]') !== null) return;
      const focused = document.activeElement;
      if (focused !== null && isTakenBy(focused, event.key, focused === reachedByTab)) return;
      event.preventDefault();
      // Firefox would press the button when the key comes up.
      if (event.key === ' ' && focused instanceof HTMLButtonElement) focused.blur();
      current.current(shortcut);
    };
    document.addEventListener('focusin', onFocus);
    document.addEventListener('pointerdown', onPointer);
    document.addEventListener('change', onChange);
    document.addEventListener('keydown', onKey);
    return () => {
      document.removeEventListener('focusin', onFocus);
      document.removeEventListener('pointerdown', onPointer);
      document.removeEventListener('change', onChange);
      document.removeEventListener('keydown', onKey);
    };
  }, []);
}
