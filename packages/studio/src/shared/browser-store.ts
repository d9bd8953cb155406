export type Store = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

/** What is kept by the browser for all tabs; and for this one, until it is closed. */
export const browserStore = lenientStore(() => localStorage);
export const tabStore = lenientStore(() => sessionStorage);

/** A store that never fails: what the browser has no room for, or refuses to keep, lasts as long as the page. */
export function lenientStore(open: () => Store): Store {
  const unkept = new Map<string, string>();
  const attempt = <T>(use: (store: Store) => T): T | null => {
    try {
      return use(open());
    } catch {
      return null;
    }
  };
  return {
    getItem: (name) => unkept.get(name) ?? attempt((store) => store.getItem(name)),
    setItem: (name, value) => {
      unkept.set(name, value);
      attempt((store) => {
        store.setItem(name, value);
        unkept.delete(name);
      });
    },
    removeItem: (name) => {
      unkept.delete(name);
      attempt((store) => store.removeItem(name));
    },
  };
}
