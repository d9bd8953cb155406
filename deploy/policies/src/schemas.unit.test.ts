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

  it('are what Kubernetes, KEDA and the Prometheus operator take, field by field, and so are the rules', () => {
    const rules: unknown = parse(readFileSync(join(CHART, 'files/lipsync.rules.yaml'), 'utf8'));
    const kind = { apiVersion: 'monitoring.coreos.com/v1', kind: 'PrometheusRule' };
    const file = join(folder, 'rules.yaml');
    writeFileSync(file, stringify({ ...kind, metadata: { name: 'rules' }, spec: rules }));
    expect(problemsIn(...RENDERED_FILES, file)).toBe('');
  });

  it('are held to the oldest Kubernetes that the chart says it is for', () => {
    const { kubeVersion } = parse(readFileSync(join(CHART, 'Chart.yaml'), 'utf8')) as { kubeVersion: string };
    const [, oldest] = /^>=(\d+\.\d+)\.0-0$/.exec(kubeVersion) ?? [];
    expect(readFileSync(PROGRAM, 'utf8')).toContain(`'kubernetes-models-${oldest}'`);
  });

  it('are told from ones with a mistake: a value, a missing field, an unknown field, a word', () => {
    const objects = RENDERED_FILES.flatMap((file) => readFileSync(file, 'utf8').split(/^---$/m));
    const mistakes: [RegExp, string][] = [
      [/containerPort: 8080/, 'containerPort: web'],
      [/^ +whenUnsatisfiable: .*\n/m, ''],
      [/cooldownPeriod:/, 'coolDownPeriod:'],
      [/behavior: currentReplicas$/m, 'behavior: keep'],
    ];
    const files = mistakes.map(([from, to], i) => {
      const file = join(folder, `mistake-${i}.yaml`);
      writeFileSync(file, objects.find((object) => from.test(object))?.replace(from, to) ?? '');
      return file;
    });
    const problems = problemsIn(...files);
    for (const file of files) expect(problems).toContain(file);
  });
});
