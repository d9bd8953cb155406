/** An absolute address of this service, whose base has no slash at its end. */
export function publicUrl(baseUrl: string, path: string): string {
  return `${baseUrl}${path}`;
}
