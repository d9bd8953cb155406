import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type ContentSigner, markOutput, openSigner } from '@lipsync/credentials';
import { createSigningCertificate, makeNumberedVideo } from '@lipsync/testkit';
import { runCommand } from '../test/run-command';

const FACTS = {
  generator: { name: 'lipsync-service', version: '1.2.3' },
  agent: { name: 'musetalk', version: 'builtin-musetalk-4' },
  videoSha256: 'ab'.repeat(32),
  voiceSha256: 'cd'.repeat(32),
  when: new Date('2026-11-27T12:00:00.000Z'),
};

let folder: string;
let signer: ContentSigner;
let signed: string;
let authority: string;
let stranger: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'cli-verify-'));
  const file = (name: string) => path.join(folder, name);
  await makeNumberedVideo(file('plain.mp4'), { frames: 5, width: 64, height: 64 });
  signed = file('signed.mp4');
  await copyFile(file('plain.mp4'), signed);
  const certificate = await createSigningCertificate();
  signer = await openSigner({
    certificate: certificate.chain,
    key: certificate.key,
    onProblem: () => undefined,
  });
  await markOutput(signer, signed, { ...FACTS, source: file('plain.mp4') });
  authority = file('authority.pem');
  await writeFile(authority, certificate.authority);
  stranger = file('stranger.pem');
  await writeFile(stranger, (await createSigningCertificate()).authority);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const verify = (...args: string[]) => runCommand(['verify', ...args], { folder });

it('tells who made a signed file of what, when and how, and that nobody vouches for the name yet', async () => {
  expect(await verify(signed)).toEqual({
    exitCode: 0,
    stdout: `The file is unchanged since it was signed.
signed by  Self-made (not trusted), LipSync on this machine, a name that nobody has vouched for (--trust)
made by    lipsync-service 1.2.3
from       video ${FACTS.videoSha256}
from       voice ${FACTS.voiceSha256}
opened     2026-11-27T12:00:00.000Z
placed     2026-11-27T12:00:00.000Z
edited     2026-11-27T12:00:00.000Z, musetalk builtin-musetalk-4, compositeWithTrainedAlgorithmicMedia
`,
    stderr: '',
  });
});

it('says of a source that had credentials who signed those', async () => {
  const again = path.join(folder, 'again.mp4');
  await copyFile(path.join(folder, 'plain.mp4'), again);
  await markOutput(signer, again, { ...FACTS, source: signed });
  const { stdout } = await verify(again, '--json');
  const credentials = { generator: 'lipsync-service 1.2.3', signer: { name: 'Self-made (not trusted)' } };
  expect(JSON.parse(stdout)).toMatchObject({
    ingredients: [
      { title: 'video', has_credentials: true, credentials },
      { title: 'voice', has_credentials: false },
    ],
  });
});

it('with --trust asks for a signer of that authority', async () => {
  const { exitCode, stdout } = await verify(signed, '--trust', authority, '--json');
  expect({ exitCode, ...(JSON.parse(stdout) as object) }).toMatchObject({
    exitCode: 0,
    state: 'trusted',
    problems: [],
  });
  const doubted = await verify(signed, '--trust', stranger);
  expect(doubted).toMatchObject({ exitCode: 1, stdout: '' });
  expect(doubted.stderr).toContain('no authority in');
});

it('fails on a changed file, and repeats nothing of what it says', async () => {
  const changed = path.join(folder, 'changed.mp4');
  const bytes = await readFile(signed);
  bytes.writeUInt8(bytes.readUInt8(bytes.length - 9) ^ 1, bytes.length - 9);
  await writeFile(changed, bytes);
  const { exitCode, stdout, stderr } = await verify(changed);
  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
  expect(stderr).toContain('was changed after it was signed, or is not an MP4: assertion.bmffHash.mismatch');
});

it('fails on a file without credentials', async () => {
  const { exitCode, stdout, stderr } = await verify(path.join(folder, 'plain.mp4'), '--json');
  expect({ exitCode, state: (JSON.parse(stdout) as { state: string }).state }).toEqual({
    exitCode: 1,
    state: 'none',
  });
  expect(stderr).toContain('carries no content credentials');
});
