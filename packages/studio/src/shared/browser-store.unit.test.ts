import { lenientStore } from './browser-store';

describe('a store of the browser', () => {
  it('lasts as long as the page where the browser denies it', () => {
    const store = lenientStore(() => {
      throw new DOMException('denied', 'SecurityError');
    });
    expect(store.getItem('a')).toBeNull();
    store.setItem('a', '1');
    expect(store.getItem('a')).toBe('1');
    store.removeItem('a');
    expect(store.getItem('a')).toBeNull();
  });

  it('holds what it has no room for, until there is room again', () => {
    const values = new Map<string, string>();
    let isFull = true;
    const store = lenientStore(() => ({
      getItem: (name) => values.get(name) ?? null,
      setItem: (name, value) => {
        if (isFull) throw new DOMException('full', 'QuotaExceededError');
        values.set(name, value);
      },
      removeItem: (name) => void values.delete(name),
    }));
    store.setItem('a', '1');
    expect(store.getItem('a')).toBe('1');
    isFull = false;
    store.setItem('a', '2');
    values.set('a', 'as another tab has set it');
    expect(store.getItem('a')).toBe('as another tab has set it');
  });
});
