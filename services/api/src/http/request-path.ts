/**
 * The path of a request target, without query, fragment and (in the absolute form that proxies use) origin. It is
 * neither decoded nor normalised, so routes match exactly what was sent.
 */
export function requestPath(target: string): string {
  const path = target.startsWith('/') ? target : target.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i, '');
  const end = path.search(/[?#]/);
  return end === -1 ? path : path.slice(0, end);
}
