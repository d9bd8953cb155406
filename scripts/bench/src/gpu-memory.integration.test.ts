import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { readCards } from '@lipsync/gpu-worker';
import { eventually } from '@lipsync/testkit';
import { watchGpuMemory } from './gpu-memory';

const PID = 4711;
let folder: string;
let program: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'nvidia-smi-'));
  program = path.join(folder, 'nvidia-smi');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

/** Stands in for NVIDIA's program, with its output for each query. The memory in use grows with every answer. */
async function onMachine({ processes }: { processes: string }): Promise<void> {
  const script = `#!/bin/sh
case $1 in
*=name,driver_version,memory.total) echo 'NVIDIA H100 80GB HBM3, 550.54.15, 81559'; echo 'NVIDIA GB10, 580.65, [N/A]' ;;
*=memory.used) echo x >>'${folder}/asked'; echo $((500 + 1000 * $(wc -l <'${folder}/asked'))); echo 7 ;;
*=pid,used_memory) printf '${processes}' ;;
*) exit 2 ;;
esac
`;
  await writeFile(program, script, { mode: 0o755 });
}

const timesAsked = async (): Promise<number> =>
  (await readFile(path.join(folder, 'asked'), 'utf8').catch(() => '')).split('\n').length - 1;

test('cards are known by name, driver and memory, where they have memory of their own', async () => {
  await onMachine({ processes: '' });
  expect(await readCards(program)).toEqual([
    { name: 'NVIDIA H100 80GB HBM3', driver: '550.54.15', memory_mib: 81559 },
    { name: 'NVIDIA GB10', driver: '580.65', memory_mib: null },
  ]);
});

test('memory is that of the process on all cards, and the growth since the start', async () => {
  await onMachine({ processes: `12, 5000\\n${PID}, 1200\\n${PID}, 300\\n` });
  const stop = watchGpuMemory(() => PID, program);
  await eventually(async () => expect(await timesAsked()).toBeGreaterThanOrEqual(2));
  expect(await stop()).toEqual({ process_mib: 1500, growth_mib: ((await timesAsked()) - 1) * 1000 });
});

test('memory of a process that nvidia-smi does not see is unknown, not zero', async () => {
  await onMachine({ processes: '' });
  const stop = watchGpuMemory(() => PID, program);
  await eventually(async () => expect(await timesAsked()).toBeGreaterThanOrEqual(2));
  expect(await stop()).toMatchObject({ process_mib: null });
});

test('without nvidia-smi, or without its driver, there are no figures and the reason is named', async () => {
  await expect(readCards(program)).rejects.toThrow(/^nvidia-smi: spawn .* ENOENT$/);
  expect(await watchGpuMemory(() => PID, program)()).toBeNull();
  const says =
    "#!/bin/sh\necho 'NVIDIA-SMI has failed because it could not communicate with the driver'\nexit 9\n";
  await writeFile(program, says, { mode: 0o755 });
  await expect(readCards(program)).rejects.toThrow('nvidia-smi: NVIDIA-SMI has failed');
});
