/** @jest-environment ./packages/testkit/src/onnx-environment.ts */
import { type TaskPack } from '../protocol/messages';
import { inProcessSessions } from '../test/in-process-sessions';
import { packAt } from '../test/pack-at';
import { inferenceSettings } from './inference-settings';
import { createModels } from './models';
import { type SessionHost } from './sessions/session';
import { verifyPack } from './verify-pack';
import { SessionError } from '@lipsync/engines';
import { writeLatentsyncPack } from '@lipsync/engines/test';
import { rememberDigests } from '@lipsync/model-pack';
import { appendFile, cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

describe('the files of a pack', () => {
  let folder: string;
  let good: string;
  let copies = 0;
  const sessions = inProcessSessions();

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'models-'));
    good = join(folder, 'good');
    await writeLatentsyncPack(good);
  });
  afterAll(async () => {
    await sessions.close();
    await rm(folder, { recursive: true, force: true });
  });

  async function copy(): Promise<TaskPack> {
    const dir = join(folder, `copy-${++copies}`);
    await cp(good, dir, { recursive: true });
    return packAt(dir);
  }
  const models = () => createModels(sessions, inferenceSettings({}));

  test('are read once to verify it', async () => {
    const read: string[] = [];
    const digestOf = rememberDigests();
    const report = await verifyPack(sessions, good, {
      cores: 1,
      digestOf: (path) => {
        read.push(basename(path));
        return digestOf(path);
      },
    });
    expect(report).toEqual({
      packDir: good,
      provider: 'cpu',
      features: { version: '2', values: expect.any(Number) as number },
    });
    expect(read.sort()).toEqual(['decoder.onnx', 'encoder.onnx', 'unet.onnx', 'whisper.onnx']);
  });

  test('are not blamed when memory is short, and the report tells the two apart', async () => {
    const failing = (reason: SessionError['reason']): SessionHost => ({
      ...sessions,
      open: () => Promise.reject(new SessionError(reason, 'not loaded')),
    });
    const reported = (reason: SessionError['reason']) => verifyPack(failing(reason), good, { cores: 1 });
    expect(await reported('out_of_memory')).toEqual({
      ...{ packDir: good, problem: 'not loaded', shortOfMemory: true },
    });
    expect(await reported('load_failed')).not.toHaveProperty('shortOfMemory');
  });

  test('do not matter to a preparation that does not load them; a render refuses them', async () => {
    const pack = await copy();
    await appendFile(join(pack.dir, 'decoder.onnx'), '!');
    const { release } = await models().encoder('latentsync', pack);
    await release();
    await expect(models().engine('latentsync', pack)).rejects.toMatchObject({ reason: 'digest_mismatch' });
  });

  test('of a different pack are never used, whatever is requested', async () => {
    const pack = { ...(await copy()), digest: 'f'.repeat(64) };
    const replaced = { name: 'PackError', reason: 'pack_replaced' };
    await expect(models().engine('latentsync', pack)).rejects.toMatchObject(replaced);
    await expect(models().encoder('latentsync', pack)).rejects.toMatchObject(replaced);
    await expect(models().analyzer(pack)).rejects.toMatchObject(replaced);
  });

  test('are no longer needed once the pack is loaded, until memory runs short', async () => {
    const pack = await copy();
    const kept = models();
    const engine = await kept.engine('latentsync', pack);
    await rm(pack.dir, { recursive: true });
    expect(await kept.engine('latentsync', pack)).toBe(engine);
    await kept.releaseEngines();
    await expect(kept.engine('latentsync', pack)).rejects.toMatchObject({ reason: 'pack_missing' });
  });

  test('run on the provider on which they were verified, whatever the pack prefers', async () => {
    const pack: TaskPack = { ...(await copy()), provider: 'cuda' };
    await expect(models().engine('latentsync', pack)).rejects.toThrow('this worker may use cuda');
  });
});
