import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { environmentOf, lastInstruction, lineage, parseDockerfile } from './dockerfile';

const ROOT = join(__dirname, '../../..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const text = read('deploy/docker/Dockerfile');
const { stages, args } = parseDockerfile(text);

describe('the Dockerfile', () => {
  it('starts from images of an exact version', () => {
    // Versions of PostgreSQL have two numbers.
    for (const image of args.values()) expect(image).toMatch(/:\d+\.\d+(\.\d+)?-[\w.-]+$/);
    const external = stages.filter(({ from }) => !stages.some(({ name }) => name === from));
    expect([...new Set(external.map(({ from }) => from))].sort()).toEqual([
      '${CUDA_IMAGE}',
      '${NODE_IMAGE}',
      '${POSTGRES_IMAGE}',
      '${PYTHON_IMAGE}',
      'scratch',
    ]);
  });

  it('installs what the lockfile says, with the pnpm that package.json names', () => {
    expect(text).toContain('--frozen-lockfile');
    expect(text).toContain("require('./package.json').packageManager");
  });

  it('makes every secret a matter of the run: nothing of the kind is an argument or a variable of an image', () => {
    for (const { name, value } of stages.flatMap(({ instructions }) => instructions))
      expect(`${name} ${value}`).not.toMatch(/^(ARG|ENV).*(SECRET|PASSWORD|TOKEN|MASTER_KEY)/);
  });

  describe.each([...readdirSync(join(ROOT, 'services')), 'gpu-worker-cuda'])('%s', (target) => {
    it('is made of files on nothing: what runs in it while it is built is its own programs, without a shell', () => {
      const line = lineage(stages, target);
      expect(line[0]?.from).toBe('scratch');
      const runs = line.flatMap(({ instructions }) => instructions).filter(({ name }) => name === 'RUN');
      for (const { value } of runs) expect(value).toMatch(/^(--mount=\S+ )?\["(node|ffmpeg|ffprobe)", /);
    });

    it('runs under tini as a user by number who is not root, and is asked for its health', () => {
      expect(lastInstruction(stages, target, 'USER')).toMatch(/^[1-9]\d{3,}:[1-9]\d{3,}$/);
      expect(lastInstruction(stages, target, 'ENTRYPOINT')).toBe('["/usr/bin/tini", "--"]');
      expect(lastInstruction(stages, target, 'HEALTHCHECK')).toContain('healthcheck.cjs');
      expect(environmentOf(stages, target)).toMatchObject({ NODE_ENV: 'production' });
    });
  });
});

describe.each(['musetalk', 'latentsync', 'highsync'])('the exporter of %s', (engine) => {
  it('has every version pinned, and no torch older than its exporter takes', () => {
    const lines = read(`deploy/docker/exporter/${engine}.txt`).split('\n');
    const wanted = lines.filter((line) => line !== '' && !line.startsWith('#'));
    for (const line of wanted) expect(line).toMatch(/^[\w-]+==\d+(\.\d+)+$/);
    const [, major = '', minor = ''] = /^torch==(\d+)\.(\d+)/m.exec(wanted.join('\n')) ?? [];
    expect(Number(major) * 100 + Number(minor)).toBeGreaterThanOrEqual(engine === 'musetalk' ? 200 : 201);
    const own = read('scripts/export/requirements.txt');
    expect(own).toContain(wanted.find((line) => line.startsWith('onnx==')));
  });
});

it('the exporter runs under tini as a user by number, and downloads only by its command', () => {
  expect(lastInstruction(stages, 'exporter', 'USER')).toMatch(/^[1-9]\d{3,}:[1-9]\d{3,}$/);
  expect(lastInstruction(stages, 'exporter', 'ENTRYPOINT')).toMatch(/^\["\/usr\/bin\/tini", "--", "node", /);
  expect(environmentOf(stages, 'exporter')).toMatchObject({ HF_HUB_OFFLINE: '1' });
});

it('the GPU tools are a layer on the image that serves, which has none of them', () => {
  const line = lineage(stages, 'gpu-tools');
  expect(line.at(-2)?.name).toBe('gpu-worker-cuda');
  const served = line.slice(0, -1).flatMap(({ instructions }) => instructions);
  expect(served.filter(({ value }) => value.includes('tools-workspace'))).toEqual([]);
  expect(lastInstruction(stages, 'gpu-tools', 'USER')).toMatch(/^[1-9]\d{3,}:[1-9]\d{3,}$/);
  expect(lastInstruction(stages, 'gpu-tools', 'ENTRYPOINT')).toMatch(/^\["\/usr\/bin\/tini", "--", "node", /);
  // Which no process can obey: a worker finds out at its start, and the GPU check by itself.
  expect(Object.values(environmentOf(stages, 'gpu-tools'))).not.toContain('auto');
});

it('.dockerignore lets in nothing that is not named, and no secrets below what is', () => {
  const lines = read('.dockerignore').split('\n');
  expect(lines.find((line) => line !== '' && !line.startsWith('#'))).toBe('*');
  expect(lines).toContain('**/.env*');
});
