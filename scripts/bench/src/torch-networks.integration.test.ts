import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type EngineManifest } from './pack-bench';
import { measureTorch } from './torch-networks';

let folder: string;
let python: string;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'torch-networks-'));
  python = path.join(folder, 'python');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Stands in for Python, which prints these lines, or whatever else the script does. */
async function says(...lines: readonly (object | string)[]): Promise<void> {
  const commands = lines.map((line) => (typeof line === 'string' ? line : `echo '${JSON.stringify(line)}'`));
  await writeFile(python, ['#!/bin/sh', ...commands, ''].join('\n'));
  await chmod(python, 0o755);
}

// What of a manifest decides which networks are timed.
const LATENTSYNC = {
  engine: 'latentsync',
  name: 'latentsync-1.5',
  roles: { unet3d: { inputs: { coefficients: {} } } },
  params: { resolution: 256 },
} as unknown as EngineManifest;
const MUSETALK = { engine: 'musetalk', name: 'musetalk-1.5' } as EngineManifest;

const compared = { manifest: MUSETALK, upstream: undefined, packFps: 120, dryRun: false };

function tools() {
  const figures: object[] = [];
  const signal = new AbortController().signal;
  return { figures, signal, secondsLeft: () => 160, found: (more: object) => void figures.push(more) };
}

const EAGER = { engine: 'musetalk', variant: 'eager', frames_per_second: 80 };

test('the ratio says how much faster the pack is, by variant, as soon as it is known', async () => {
  const network = { engine: 'musetalk', network: 'unet', variant: 'eager', ms: 30 };
  const graph = { engine: 'musetalk', variant: 'graph', frames_per_second: 150 };
  await says(network, EAGER, graph);
  const { figures, ...given } = tools();
  const torch = [network, EAGER, graph];
  expect(await measureTorch({ ...compared, python }, given)).toEqual({
    torch,
    ratio: { eager: 1.5, graph: 0.8 },
  });
  expect(figures[1]).toEqual({ torch: torch.slice(0, 2), ratio: { eager: 1.5 } });
});

test('without a render there are PyTorch’s figures alone', async () => {
  await says(EAGER);
  expect(await measureTorch({ ...compared, python, packFps: undefined }, tools())).toEqual({
    torch: [EAGER],
    ratio: {},
  });
});

test('the networks are those of the pack, at upstream’s size and from upstream’s checkout', async () => {
  await says(`printf '{"network":"%s"}\\n' "$*"`);
  const { torch } = await measureTorch(
    { ...compared, python, manifest: LATENTSYNC, upstream: '/upstreams' },
    tools(),
  );
  expect(torch[0]?.network).toMatch(
    /torch_speed\.py latentsync --plan latentsync-256-deep-cache --variants eager graph --upstream \/upstreams\/LatentSync --seconds 10$/,
  );
});

test.each([
  ['no Python is named', { python: undefined }, /--python/],
  ['upstream’s network is nowhere', { manifest: LATENTSYNC }, /LatentSync is not named \(--upstream\)/],
  ['a pack is built in', { manifest: { ...MUSETALK, name: 'builtin-musetalk' } }, /nobody else/],
  ['it is no program', { python: '/nowhere/python' }, /spawn \/nowhere\/python ENOENT/],
])('it is skipped, with the reason, where %s', async (_, missing, reason) => {
  await says(EAGER);
  await expect(measureTorch({ ...compared, python, ...missing }, tools())).rejects.toMatchObject({
    name: 'Skipped',
    message: expect.stringMatching(reason) as string,
  });
});

test('a Python without torch is a reason to skip it, any other failure is one', async () => {
  await says(`echo "ModuleNotFoundError: No module named 'torch'" >&2; exit 1`);
  await expect(measureTorch({ ...compared, python }, tools())).rejects.toMatchObject({
    name: 'Skipped',
    message: "ModuleNotFoundError: No module named 'torch'",
  });
  await says('echo "RuntimeError: no kernel image" >&2; exit 1');
  await expect(measureTorch({ ...compared, python }, tools())).rejects.toThrow('no kernel image');
});
