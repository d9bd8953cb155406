/** An absolute URL of this service. `baseUrl` has no trailing slash. */
export function publicUrl(baseUrl: string, path: string): string {
  return `${baseUrl}${path}`;
}
