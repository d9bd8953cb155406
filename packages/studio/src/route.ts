import { useEffect, useState } from 'preact/hooks';

/** Where the user is. It is in the address, so that a reload comes back to it. */
export type Route = { readonly page: 'new' } | { readonly page: 'render'; readonly id: string };

export function routeOf(hash: string): Route {
  const id = /^#\/renders\/([\w-]+)$/.exec(hash)?.[1];
  return id === undefined ? { page: 'new' } : { page: 'render', id };
}

export function hashOf(route: Route): string {
  return route.page === 'new' ? '#/' : `#/renders/${route.id}`;
}

export function useRoute(): [Route, (route: Route) => void] {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const update = (): void => setHash(location.hash);
    // Also what changed before the page was on screen.
    update();
    addEventListener('hashchange', update);
    return () => removeEventListener('hashchange', update);
  }, []);
  return [
    routeOf(hash),
    (route) => {
      location.hash = hashOf(route);
      scrollTo(0, 0);
    },
  ];
}
