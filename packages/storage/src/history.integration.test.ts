import { type S3Server, startS3Server } from '@lipsync/testkit';
import { createStorage, type Storage } from './storage';

let server: S3Server;
let storage: Storage;

beforeAll(async () => {
  server = await startS3Server();
});
afterAll(() => server.close());
beforeEach(async () => {
  storage = createStorage({
    ...server,
    bucket: `history-${Math.random().toString(36).slice(2)}`,
    forcePathStyle: true,
  });
  await storage.createBucket();
  await storage.keepVersions();
});
afterEach(() => storage.close());

const fromNow = (minutes: number): Date => new Date(Date.now() + minutes * 60_000);
const put = (key: string, text: string) => storage.put(key, Buffer.from(text), { contentType: 'text/plain' });
const there = async (): Promise<string[]> => {
  const keys: string[] = [];
  for await (const key of storage.list('')) keys.push(key);
  return keys;
};

it('brings back what was deleted since a time, and hides what was written since', async () => {
  await put('outputs/kept', 'a');
  await put('outputs/deleted', 'b');
  await put('uploads/deleted', 'c');
  await storage.delete(['outputs/deleted', 'uploads/deleted']);
  // Everything happened about now, which a minute's difference of the clocks allows for.
  expect(await storage.returnTo('outputs/', fromNow(0))).toEqual({ restored: 1, hidden: 0 });
  expect(await there()).toEqual(['outputs/deleted', 'outputs/kept']);
  expect((await storage.getBuffer('outputs/deleted')).toString()).toBe('b');

  expect(await storage.returnTo('outputs/', fromNow(-10))).toEqual({ restored: 0, hidden: 2 });
  expect(await there()).toEqual([]);
});

it('leaves deleted what had been deleted before the time', async () => {
  await put('outputs/deleted', 'a');
  await storage.delete(['outputs/deleted']);
  expect(await storage.returnTo('', fromNow(10))).toEqual({ restored: 0, hidden: 0 });
  expect(await there()).toEqual([]);
});

it('forgets what was replaced or deleted before a time, with the markers that hide nothing then', async () => {
  await put('assets/replaced', 'old');
  await put('assets/replaced', 'new');
  await put('assets/deleted', 'gone');
  await storage.delete(['assets/deleted']);
  expect(await storage.forgetVersions(fromNow(-10))).toBe(0);
  expect(await storage.countVersions([''])).toEqual({ objects: 3, bytes: 'oldnewgone'.length });

  expect(await storage.forgetVersions(fromNow(10))).toBe(2);
  expect(await storage.countVersions([''])).toEqual({ objects: 1, bytes: 'new'.length });
  expect(await storage.returnTo('', fromNow(0))).toEqual({ restored: 0, hidden: 0 });
  expect((await storage.getBuffer('assets/replaced')).toString()).toBe('new');
});
