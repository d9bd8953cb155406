import {
  CreateMultipartUploadCommand,
  ListObjectVersionsCommand,
  PutBucketVersioningCommand,
} from '@aws-sdk/client-s3';
import { type S3Server, startS3Server } from '@lipsync/testkit';
import { createS3Client } from './s3-client';
import { createStorage, type Storage } from './storage';
import { countVersions, eraseVersions } from './versions';

let server: S3Server;
let storage: Storage;
let client: ReturnType<typeof createS3Client>;

beforeAll(async () => {
  server = await startS3Server();
  storage = createStorage({ ...server, forcePathStyle: true });
  client = createS3Client({ ...server, forcePathStyle: true }, server.endpoint, 1);
});
afterEach(() => server.faults.clear());
afterAll(async () => {
  client.destroy();
  storage.close();
  await server.close();
});

const put = (key: string, content: string) =>
  storage.put(key, Buffer.from(content), { contentType: 'text/plain' });

const keepVersions = () =>
  client.send(
    new PutBucketVersioningCommand({
      Bucket: server.bucket,
      VersioningConfiguration: { Status: 'Enabled' },
    }),
  );

/** The keys of all versions and markers in the bucket. */
async function traces(): Promise<string[]> {
  const all = await client.send(new ListObjectVersionsCommand({ Bucket: server.bucket }));
  return [...(all.Versions ?? []), ...(all.DeleteMarkers ?? [])].map(({ Key }) => String(Key)).sort();
}

/** The bucket through a client that asks for pages of this size. */
function pagesOf(size: number) {
  const paging = createS3Client({ ...server, forcePathStyle: true }, server.endpoint, 1);
  paging.middlewareStack.add((next) => (args) => next({ ...args, input: { ...args.input, MaxKeys: size } }), {
    step: 'initialize',
  });
  return { client: paging, bucket: server.bucket };
}

it('erases what is under a prefix, and nothing else, whether or not the bucket keeps versions', async () => {
  await put('outputs/one/video', 'before versions');
  await put('outputs/only/video', 'x');
  expect(await storage.eraseVersions(['outputs/only/'])).toEqual({ objects: 1, bytes: 1 });
  await keepVersions();
  await put('outputs/one/video', 'first');
  await put('outputs/one/video', 'second');
  await storage.delete(['outputs/one/video', 'outputs/one/never-there']);
  await put('outputs/other/video', 'of another');
  expect(await storage.head('outputs/one/video')).toBeNull();

  const there = { objects: 3, bytes: 'before versionsfirstsecond'.length };
  expect(await storage.countVersions(['outputs/one/'])).toEqual(there);
  expect(await storage.eraseVersions(['outputs/one/'])).toEqual(there);
  expect(await traces()).toEqual(['outputs/other/video']);
  expect(await storage.eraseVersions(['outputs/one/'])).toEqual({ objects: 0, bytes: 0 });
});

it('goes through as many pages as there are', async () => {
  await keepVersions();
  for (const name of ['a', 'b', 'b', 'b', 'c']) await put(`paged/${name}`, name);
  const small = pagesOf(2);
  expect(await countVersions(small, ['paged/'])).toEqual({ objects: 5, bytes: 5 });
  expect(await eraseVersions(small, ['paged/'])).toEqual({ objects: 5, bytes: 5 });
  small.client.destroy();
  expect((await traces()).filter((key) => key.startsWith('paged/'))).toEqual([]);
});

it('finds what is under many prefixes in few requests, also where others have stored much in between', async () => {
  const own = Array.from({ length: 200 }, (_, i) => `many/run_${String(i).padStart(3, '0')}/`);
  for (const prefix of own) await put(`${prefix}video`, 'own');
  const others = [
    'many/run_',
    'many/run_0',
    'many/run_007',
    'many/run_007x/video',
    'many/run_1990',
    'many/run_2',
  ];
  for (const key of others) await put(key, 'of another');
  let requests = 0;
  const applies = ({ method, key }: { method: string; key: string }): boolean => {
    if (method === 'GET' && key === '') requests += 1;
    return false;
  };
  server.faults.set({ slowDownRate: 1, applies });
  const all = { objects: 200, bytes: 200 * 3 };
  expect(await storage.countVersions(own)).toEqual(all);
  expect(requests).toBe(1);
  const [large, small] = [pagesOf(100), pagesOf(40)];
  expect(await countVersions(large, own)).toEqual(all);
  expect(requests).toBe(1 + 3);
  // A page of these is not worth it: it looks for each hundred, then each ten, and then one by one.
  expect(await countVersions(small, own)).toEqual(all);
  expect(requests).toBe(1 + 3 + 1 + 2 + 200);
  expect(await eraseVersions(small, own)).toEqual(all);
  for (const { client: opened } of [small, large]) opened.destroy();
  expect((await traces()).filter((key) => key.startsWith('many/'))).toEqual([...others].sort());
});

it('says so if a version cannot be deleted, and tries no more than it had begun to', async () => {
  await Promise.all(Array.from({ length: 100 }, (_, i) => put(`refused/${i}`, 'x')));
  let requests = 0;
  const applies = ({ method }: { method: string }): boolean => {
    if (method === 'DELETE') requests += 1;
    return method === 'DELETE';
  };
  server.faults.set({ denyRate: 1, applies });
  await expect(storage.eraseVersions(['refused/'])).rejects.toMatchObject({ kind: 'rejected' });
  expect(requests).toBe(32);
});

it('aborts uploads in parts that nobody completed', async () => {
  for (const Key of ['uploads/a', 'uploads/b'])
    await client.send(new CreateMultipartUploadCommand({ Bucket: server.bucket, Key }));
  const begun = await storage.listIncompleteUploads();
  expect(begun.map(({ key }) => key)).toEqual(['uploads/a', 'uploads/b']);
  for (const upload of begun.slice(0, 1)) await storage.abortUpload(upload);
  expect(await storage.listIncompleteUploads()).toEqual(begun.slice(1));
});
