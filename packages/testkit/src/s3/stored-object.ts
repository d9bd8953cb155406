/** The description of an object, without its bytes. */
export interface StoredObject {
  key: string;
  /** File with the bytes. It is never rewritten, so a reader can finish what it began. */
  blob: string;
  size: number;
  /** Hex MD5, without quotes. */
  etag: string;
  contentType: string;
  /** `x-amz-meta-*` headers by their full lower-case name. */
  metadata: Readonly<Record<string, string>>;
  modifiedAtMs: number;
  /** Whether everybody may read it; absent for no. */
  publicRead?: boolean;
}

/** Reads an object's description from its file. Throws if the file is not one. */
export function parseStoredObject(text: string): StoredObject {
  const value: unknown = JSON.parse(text);
  if (!isStoredObject(value)) throw new Error('not an object description');
  return value;
}

function isStoredObject(value: unknown): value is StoredObject {
  if (typeof value !== 'object' || value === null) return false;
  const fields: Partial<Record<keyof StoredObject, unknown>> = value;
  return (
    ['key', 'blob', 'etag', 'contentType'].every((name) => typeof Reflect.get(fields, name) === 'string') &&
    typeof fields.size === 'number' &&
    typeof fields.modifiedAtMs === 'number' &&
    typeof fields.metadata === 'object'
  );
}
