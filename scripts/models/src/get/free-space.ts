import { mkdir, stat, statfs } from 'node:fs/promises';

/** Bytes that will be written below a folder. */
export interface Need {
  readonly folder: string;
  readonly bytes: number;
}

/** What a file system can still take; folders on the same one share it. */
export type Room = (folder: string) => Promise<{ device: number; free: number }>;

/** Creates the folders, and rejects if a file system has not the room for all that will be written to it. */
export async function makeSureOfSpace(needs: readonly Need[], room: Room = roomOf): Promise<void> {
  const devices = new Map<number, { folder: string; free: number; bytes: number }>();
  for (const { folder, bytes } of needs) {
    await mkdir(folder, { recursive: true });
    const { device, free } = await room(folder);
    const before = devices.get(device);
    devices.set(device, { folder: before?.folder ?? folder, free, bytes: bytes + (before?.bytes ?? 0) });
  }
  for (const { folder, free, bytes } of devices.values())
    if (bytes > free)
      throw new Error(
        `${folder} has ${gigabytes(free)} GB free, and ${gigabytes(bytes)} GB are needed. Nothing was downloaded`,
      );
}

async function roomOf(folder: string): Promise<{ device: number; free: number }> {
  const [{ dev }, { bavail, bsize }] = await Promise.all([stat(folder), statfs(folder)]);
  return { device: dev, free: bavail * bsize };
}

const gigabytes = (bytes: number): string => (bytes / 1e9).toFixed(1);
