/** What a key does to the player. */
export type Shortcut =
  | { readonly kind: 'toggle' | 'repeat' | 'mouth' | 'wipe' | 'mute' | 'help' }
  | { readonly kind: 'step'; readonly by: 'frame' | 'second'; readonly count: 1 | -1 }
  | { readonly kind: 'edge'; readonly end: boolean }
  | { readonly kind: 'hear'; readonly clip: number };

type Key = Pick<KeyboardEvent, 'key' | 'shiftKey' | 'ctrlKey' | 'metaKey' | 'altKey'>;

/** Shown to people, in this order. */
export const SHORTCUT_TEXTS: readonly (readonly [keys: readonly string[], text: string])[] = [
  [['Space'], 'Play, pause'],
  [['←', '→'], 'A frame back, forward'],
  [['Shift ←', 'Shift →'], 'A second back, forward'],
  [['Home', 'End'], 'First frame, last frame'],
  [['1', '…', '4'], 'Hear the first to fourth clip'],
  [['M'], 'Mute'],
  [['Z'], 'Zoom on the mouth, and back'],
  [['W'], 'Wipe, and back to side by side'],
  [['L'], 'Repeat'],
  [['?'], 'This list, and back'],
];

export function shortcutOf({ key, shiftKey, ctrlKey, metaKey, altKey }: Key): Shortcut | null {
  if (ctrlKey || metaKey || altKey) return null;
  const by = shiftKey ? 'second' : 'frame';
  switch (key.length === 1 ? key.toLowerCase() : key) {
    case ' ':
    case 'k':
      return { kind: 'toggle' };
    case 'ArrowLeft':
    case ',':
    case '<':
      return { kind: 'step', by, count: -1 };
    case 'ArrowRight':
    case '.':
    case '>':
      return { kind: 'step', by, count: 1 };
    case 'Home':
    case 'End':
      return { kind: 'edge', end: key === 'End' };
    case 'l':
      return { kind: 'repeat' };
    case 'z':
      return { kind: 'mouth' };
    case 'w':
      return { kind: 'wipe' };
    case 'm':
      return { kind: 'mute' };
    case '?':
      return { kind: 'help' };
    case '1':
    case '2':
    case '3':
    case '4':
      return { kind: 'hear', clip: Number(key) - 1 };
    default:
      return null;
  }
}

/**
 * Whether the element that has the focus uses the key itself. A button does if it was reached with the Tab key;
 * somebody who clicked it expects the space bar to play.
 */
export function isTakenBy(element: Element, key: string, reachedByTab: boolean): boolean {
  if (element.matches('input:not([type=file]), textarea, select, [contenteditable], [data-own-keys]'))
    return true;
  return key === ' ' && reachedByTab && element.matches('button, summary, input');
}
