import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import {
  backendEnvironment,
  createStack,
  RECEIVER_HOST,
  REPOSITORY_ROOT,
  type Stack,
  type StackState,
} from '@lipsync/local-stack';
import { createCertificateAuthority } from '@lipsync/testkit';
import { type LoadTestReport } from './report/report';

jest.setTimeout(240_000);

interface Outcome {
  exitCode: number;
  pid: number;
  stdout: string;
  stderr: string;
  /** Null when the run ended without one. */
  report: LoadTestReport | null;
  html: string;
}

describe('the load-test command', () => {
  let folder: string;
  let stack: Stack;
  let state: StackState;

  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'e2e-load-test-'));
    stack = createStack({ root: path.join(folder, 'stack') });
    await stack.up();
    state = stack.state();
    const authority = await createCertificateAuthority(state.authority);
    const { cert, key } = await authority.issue([RECEIVER_HOST]);
    await writeFile(path.join(folder, 'cert.pem'), cert);
    await writeFile(path.join(folder, 'key.pem'), key);
  });
  afterAll(async () => {
    await stack.down();
    stack.erase();
    await rm(folder, { recursive: true, force: true });
  });

  /** Runs the command, with options as one writes them in a shell. */
  async function run(name: string, ...args: string[]): Promise<Outcome> {
    const command = path.join(REPOSITORY_ROOT, 'scripts', 'load-test', 'dist', 'load-test.js');
    const out = path.join(folder, name);
    const outcome = await new Promise<Omit<Outcome, 'report' | 'html'>>((resolve) => {
      const child = execFile(
        process.execPath,
        [command, '--out', out, ...args.join(' ').split(' ')],
        (error, stdout, stderr) =>
          resolve({ exitCode: error === null ? 0 : Number(error.code), pid: child.pid ?? 0, stdout, stderr }),
      );
    });
    const written = async (file: string) => readFile(path.join(out, file), 'utf8').catch(() => '');
    const json = await written('report.json');
    return {
      ...outcome,
      report: json === '' ? null : (JSON.parse(json) as LoadTestReport),
      html: await written('report.html'),
    };
  }

  /** Runs an operator's command on the stack, given as the documentation writes it. */
  async function admin(args: string): Promise<Record<string, unknown>> {
    const command = path.join(REPOSITORY_ROOT, 'scripts', 'local-stack', 'dist', 'admin.js');
    const env = { ...process.env, ...backendEnvironment(state) };
    const { stdout } = await promisify(execFile)(process.execPath, [command, ...args.split(' '), '--json'], {
      env,
    });
    return JSON.parse(stdout) as Record<string, unknown>;
  }
  const target = (): string => `--target http://127.0.0.1:${state.ports.api}`;
  /** Both customers of the stack, with their own secrets by default. */
  const keys = (secrets = state.customers.map(({ signing_secret }) => signing_secret)): string =>
    state.customers.map(({ api_key }, i) => `--key ${api_key} --signing-secret ${secrets[i]}`).join(' ');
  /** The harness listens where the stack's services look for the demo's receiver. */
  const receiver = (): string =>
    `--webhook-url https://${RECEIVER_HOST}/hooks --listen 127.0.0.1:${state.ports.receiver} ` +
    `--tls-cert ${path.join(folder, 'cert.pem')} --tls-key ${path.join(folder, 'key.pem')}`;
  const states = ({ report }: Outcome): Record<string, string> =>
    Object.fromEntries((report?.checks ?? []).map(({ id, state: outcome }) => [id, outcome]));

  it('starts a separate stack, loads the control plane, reports, and leaves nothing behind', async () => {
    const outcome = await run(
      'control-plane',
      '--rate 10 --duration 4 --warm-up 1 --mix get=4,create=3,replay=2,upload=2',
    );
    expect(outcome).toMatchObject({ exitCode: 0 });
    expect(states(outcome)).toMatchObject({
      answers_in_contract: 'passed',
      replays_same_render: 'passed',
      uploads_ready: 'passed',
      renders_end: 'passed',
      webhooks_arrive: 'skipped',
    });
    const measured = (outcome.report?.operations ?? []).map(({ operation }) => operation);
    expect(measured).toEqual(
      expect.arrayContaining([
        'get_render',
        'create_render',
        'cancel_render',
        'replay_render',
        'create_upload',
        'put_bytes',
        'complete_upload',
      ]),
    );
    expect(outcome.stdout).toContain(outcome.report?.summary);
    expect(outcome.html).toContain('Latency distribution');
    expect(existsSync(path.join(REPOSITORY_ROOT, '.local', `load-test-${outcome.pid}`))).toBe(false);
  });

  it('renders on a deployment for several customers, receives every webhook and fetches the outputs', async () => {
    const outcome = await run(
      'renders',
      target(),
      keys(),
      receiver(),
      '--scenario renders --media per-render --rate 1 --duration 4 --sync-modes cut_off,loop',
      '--receivers fast=1,slow=1 --slow-seconds 0.1 --poll-interval 0.5',
    );
    expect(outcome).toMatchObject({ exitCode: 0 });
    const { report } = outcome;
    const skipped = (report?.checks ?? []).filter((check) => check.state !== 'passed').map(({ id }) => id);
    // This scenario replays nothing and uploads nothing on its own, and no response was lost.
    expect(skipped).toEqual(['replays_same_render', 'lost_answers_settled', 'uploads_ready']);
    const accepted = report?.renders?.accepted ?? 0;
    expect(accepted).toBeGreaterThan(0);
    expect(report).toMatchObject({
      renders: { ended: { completed: accepted }, start_from: { record: accepted, poll: 0 } },
      webhooks: { events: accepted },
    });
    expect(report?.renders?.queue_to_start_ms?.max).toBeLessThanOrEqual(
      report?.renders?.end_to_end_ms?.max ?? 0,
    );
    expect(outcome.html).toContain('How long renders take');
    // Reports are shared, so they must not contain credentials.
    for (const { api_key, signing_secret } of state.customers)
      expect(JSON.stringify(report) + outcome.html).not.toMatch(new RegExp(`${api_key}|${signing_secret}`));
  });

  it('is admitted with a customer and a key created by the commands in its documentation', async () => {
    const text = await readFile(path.join(REPOSITORY_ROOT, 'docs', 'load-testing.md'), 'utf8');
    const [create = '', issue = ''] = [...text.matchAll(/`admin ([^`]+)`/g)].map(([, args]) => args);
    const customer = await admin(create);
    expect(customer).toMatchObject({ running_jobs: 1_000, active_records: 10_000 });
    const key = await admin(issue.replace('<customer-id>', String(customer['id'])));
    const outcome = await run(
      'documented',
      target(),
      `--key ${String(key['api_key'])} --rate 5 --duration 1 --warm-up 0`,
    );
    expect(outcome).toMatchObject({ exitCode: 0, report: { errors: [] } });
  });

  it('fails with a list of the violated guarantees', async () => {
    const wrong = state.customers.map(() => '00'.repeat(32));
    const outcome = await run(
      'wrong-secret',
      target(),
      keys(wrong),
      receiver(),
      '--scenario webhooks --rate 4 --burst 2 --duration 3 --warm-up 0 --drain 2',
    );
    expect(outcome).toMatchObject({ exitCode: 1, report: { verdict: { outcome: 'failed' } } });
    expect(states(outcome)).toMatchObject({
      renders_end: 'passed',
      webhooks_signed: 'failed',
      webhooks_arrive: 'failed',
    });
    expect(outcome.stdout).toMatch(/FAILED {3}Every attempt is signed/);
  });

  it('refuses to start on a server that is not the service, or that does not know the key', async () => {
    const stranger = await run('stranger', target(), `--key svc_${'0'.repeat(64)}`);
    expect(stranger).toMatchObject({ exitCode: 1, report: null });
    expect(stranger.stderr).toContain('401 invalid_api_key');
  });
});
