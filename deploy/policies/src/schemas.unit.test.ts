import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { CHART, RENDERED_FILES } from './rendered';

const PROGRAM = join(__dirname, 'against-schemas.mjs');

describe('the rendered manifests', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'manifests-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  function problemsIn(...files: string[]): string {
    const { stdout, stderr, status } = spawnSync(process.execPath, [PROGRAM, ...files], { encoding: 'utf8' });
    return status === 0 ? '' : `${stdout}${stderr}`;
  }

  it('are what Kubernetes, KEDA and the Prometheus operator take, field by field', () => {
    expect(problemsIn(...RENDERED_FILES)).toBe('');
  });

  it('and so are the rules', () => {
    const rules: unknown = parse(readFileSync(join(CHART, 'files/lipsync.rules.yaml'), 'utf8'));
    const kind = { apiVersion: 'monitoring.coreos.com/v1', kind: 'PrometheusRule' };
    const file = join(folder, 'rules.yaml');
    writeFileSync(file, stringify({ ...kind, metadata: { name: 'rules' }, spec: rules }));
    expect(problemsIn(file)).toBe('');
  });

  it.each([
    ['a value of another type', /containerPort: 8080/, 'containerPort: web'],
    ['a field that is missing', /^ +whenUnsatisfiable: .*\n/m, ''],
    ['a field that does not exist', /cooldownPeriod:/, 'coolDownPeriod:'],
    ['a word that is not among those allowed', /behavior: currentReplicas$/m, 'behavior: keep'],
  ])('are told from ones with %s', (_what, from, to) => {
    const whole = RENDERED_FILES.map((file) => readFileSync(file, 'utf8')).join('');
    const file = join(folder, 'wrong.yaml');
    expect(whole).toMatch(from);
    writeFileSync(file, whole.replace(from, to));
    expect(problemsIn(file)).toMatch(/problems/);
  });
});
