import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { environmentOf, lastInstruction, lineage, parseDockerfile } from './dockerfile';

const ROOT = join(__dirname, '../../..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const text = read('deploy/docker/Dockerfile');
const { stages, args } = parseDockerfile(text);

const SERVICES = readdirSync(join(ROOT, 'services'));
const TARGETS = [...SERVICES, 'gpu-worker-cuda'];

describe('the Dockerfile', () => {
  it('has a target for every service', () => {
    expect(stages.map(({ name }) => name)).toEqual(expect.arrayContaining(TARGETS));
  });

  it('starts from images of an exact version', () => {
    for (const image of args.values()) expect(image).toMatch(/:\d+\.\d+\.\d+-[\w.-]+$/);
    const external = stages.filter(({ from }) => !stages.some(({ name }) => name === from));
    expect(external.map(({ from }) => from).sort()).toEqual(['${CUDA_IMAGE}', '${NODE_IMAGE}', 'scratch']);
  });

  it('installs what the lockfile says, with the pnpm that package.json names', () => {
    expect(text).toContain('--frozen-lockfile');
    expect(text).toContain("require('./package.json').packageManager");
    expect(text).not.toMatch(/curl|wget|latest/);
  });

  it('compiles from named files alone: without .git, turbo would hash every file of node_modules first', () => {
    const { tasks } = JSON.parse(read('turbo.json')) as { tasks: Record<string, { inputs?: string[] }> };
    const inputs = tasks['build']?.inputs ?? ['$TURBO_DEFAULT$'];
    expect(inputs).toContain('{assembly,openapi,scripts,src}/**');
    expect(inputs).not.toContain('$TURBO_DEFAULT$');
  });

  it('makes every secret a matter of the run: nothing of the kind is an argument or a variable of an image', () => {
    for (const { instructions } of stages)
      for (const { name, value } of instructions)
        expect(`${name} ${value}`).not.toMatch(/^(ARG|ENV).*(SECRET|PASSWORD|TOKEN|MASTER_KEY)/);
  });

  describe.each(TARGETS)('%s', (target) => {
    it('is made of files on nothing: what runs in it while it is built is its own programs, without a shell', () => {
      const line = lineage(stages, target);
      expect(line[0]?.from).toBe('scratch');
      const runs = line.flatMap(({ instructions }) => instructions).filter(({ name }) => name === 'RUN');
      for (const { value } of runs) expect(value).toMatch(/^(--mount=\S+ )?\["(node|ffmpeg|ffprobe)", /);
    });

    it('runs under tini as a user by number who is not root, and is asked for its health', () => {
      expect(lastInstruction(stages, target, 'USER')).toMatch(/^[1-9]\d{3,}:[1-9]\d{3,}$/);
      expect(lastInstruction(stages, target, 'ENTRYPOINT')).toBe('["/usr/bin/tini", "--"]');
      expect(lastInstruction(stages, target, 'CMD')).toBe('["node", "dist/main.js"]');
      expect(lastInstruction(stages, target, 'HEALTHCHECK')).toContain('healthcheck.cjs');
      expect(environmentOf(stages, target)).toMatchObject({ NODE_ENV: 'production' });
    });

    it('says what it is', () => {
      const labels = lineage(stages, target)
        .flatMap(({ instructions }) => instructions)
        .filter(({ name }) => name === 'LABEL')
        .map(({ value }) => value)
        .join(' ');
      for (const label of ['title', 'description', 'version', 'revision', 'licenses'])
        expect(labels).toContain(`org.opencontainers.image.${label}=`);
    });

    it('names the license of ffmpeg if it carries it, and its own alone if not', () => {
      const line = lineage(stages, target);
      const labels = line.flatMap(({ instructions }) => instructions.map(({ value }) => value));
      const licenses = labels.flatMap((value) => /\.licenses="([^"]+)"/.exec(value)?.[1] ?? []).at(-1);
      const media = line.some(({ name }) => name === 'runtime-media');
      expect(licenses).toMatch(media ? /^MIT AND GPL-2\.0-or-later/ : /^MIT$/);
    });
  });

  it('puts the programs that the api image is used for into it', () => {
    for (const program of ['main', 'migrate', 'admin'])
      expect(existsSync(join(ROOT, 'services/api/src', `${program}.ts`))).toBe(true);
  });
});

describe('.dockerignore', () => {
  const lines = read('.dockerignore').split('\n');

  it('lets in nothing that is not named', () => {
    expect(lines.find((line) => line !== '' && !line.startsWith('#'))).toBe('*');
    const allowed = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
    // A pattern such as scripts/*/package.json is known by the folder before its star.
    for (const name of allowed) expect(existsSync(join(ROOT, name.replace(/\*.*$/, '')))).toBe(true);
  });

  it('keeps out secrets and what is built', () => {
    for (const pattern of ['**/.env*', '**/node_modules', '**/dist', 'prisma/generated'])
      expect(lines).toContain(pattern);
  });
});
