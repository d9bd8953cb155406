import { PutBucketVersioningCommand } from '@aws-sdk/client-s3';
import { type Bucket } from './s3-client';
import { mapErrors } from './storage-error';
import { deleteVersion, type Version, versionPages } from './versions';

/** Turns versioning on. Repeating it changes nothing. */
export async function keepVersions({ client, bucket }: Bucket): Promise<void> {
  await mapErrors('turn versioning on', undefined, () =>
    client.send(
      new PutBucketVersioningCommand({ Bucket: bucket, VersioningConfiguration: { Status: 'Enabled' } }),
    ),
  );
}

/**
 * Deletes the versions that were replaced or deleted before a time, and the markers that then hide nothing. Returns how
 * many versions it deleted. Stores that obey lifecycle rules can do this by themselves.
 */
export async function forgetVersions(bucket: Bucket, before: Date): Promise<number> {
  let forgotten = 0;
  for await (const history of histories(bucket, '')) {
    const kept = history.filter((_, i) => {
      const successor = history[i - 1];
      return successor === undefined || successor.modifiedAt >= before;
    });
    const [newest] = kept;
    if (kept.length === 1 && newest && isMarker(newest) && newest.modifiedAt < before) kept.pop();
    const old = history.filter((version) => !kept.includes(version));
    // A marker goes last: without it, what it hides would be back.
    for (const version of old.reverse()) await deleteVersion(bucket, version);
    forgotten += old.filter((version) => !isMarker(version)).length;
  }
  return forgotten;
}

/** How far the clocks of the store and of whoever names a time may differ. */
const CLOCKS_MS = 60_000;

/**
 * Brings objects that are written once back to a time: those deleted since are there again, and those written since are
 * hidden by a delete marker. What happened within a minute of it counts as there.
 */
export async function returnTo(
  bucket: Bucket,
  prefix: string,
  time: Date,
): Promise<{ restored: number; hidden: number }> {
  let [restored, hidden] = [0, 0];
  for await (const history of histories(bucket, prefix)) {
    const at = history.findIndex((version) => !isMarker(version));
    const object = history[at];
    if (object === undefined) continue;
    const markers = history.slice(0, at);
    if (object.modifiedAt.getTime() > time.getTime() + CLOCKS_MS) {
      if (markers.length > 0) continue;
      await deleteVersion(bucket, { key: object.key, versionId: undefined });
      hidden += 1;
    } else if (
      markers.length > 0 &&
      markers.every(({ modifiedAt }) => modifiedAt.getTime() >= time.getTime() - CLOCKS_MS)
    ) {
      for (const marker of markers) await deleteVersion(bucket, marker);
      restored += 1;
    }
  }
  return { restored, hidden };
}

const isMarker = ({ sizeBytes }: Version): boolean => sizeBytes === undefined;

/** All versions and markers of each key, the newest first. A page may end within a key. */
async function* histories(bucket: Bucket, prefix: string): AsyncGenerator<Version[]> {
  const unfinished = new Map<string, Version[]>();
  for await (const page of versionPages(bucket, prefix)) {
    const there = new Set(page.map(({ key }) => key));
    for (const [key, versions] of unfinished)
      if (!there.has(key)) {
        unfinished.delete(key);
        yield newestFirst(versions);
      }
    for (const version of page)
      unfinished.set(version.key, [...(unfinished.get(version.key) ?? []), version]);
  }
  for (const versions of unfinished.values()) yield newestFirst(versions);
}

function newestFirst(versions: readonly Version[]): Version[] {
  return versions.toSorted(
    (a, b) => Number(b.isLatest) - Number(a.isLatest) || b.modifiedAt.getTime() - a.modifiedAt.getTime(),
  );
}
