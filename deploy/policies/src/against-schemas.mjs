// against-schemas.mjs FILE…: holds manifests to Kubernetes' own OpenAPI schemas (of two versions) and to those of KEDA and
// of the Prometheus operator: values by the compiled schemas, and, since these let unknown fields pass, names of fields
// by the types generated from the same source. Prints what it finds; the exit code says whether there was anything.
//
// A program of its own, because the schemas are ES modules, and tests run as CommonJS.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';

const HERE = dirname(fileURLToPath(import.meta.url));
const require = createRequire(import.meta.url);

const CRDS = {
  'keda.sh': '@kubernetes-models/keda',
  'monitoring.coreos.com': '@kubernetes-models/prometheus-operator',
};

/** Where the model of an object is exported from. */
function moduleOf({ apiVersion, kind }) {
  return `${CRDS[apiVersion.split('/')[0]] ?? 'kubernetes-models'}/${apiVersion}/${kind}`;
}

async function modelsOf(object) {
  const path = moduleOf(object);
  const older = path.startsWith('kubernetes-models/')
    ? [require(path.replace('kubernetes-models', 'kubernetes-models-1.33'))]
    : [];
  return [await import(path), ...older].map((module) => module[object.kind]);
}

const problems = [];
const objects = [];
for (const file of process.argv.slice(2)) {
  for (const document of parseAllDocuments(readFileSync(file, 'utf8'), { uniqueKeys: true })) {
    problems.push(...document.errors.map((error) => `${file}: ${error.message}`));
    const object = document.toJS();
    objects.push({ object, where: `${file}: ${object.kind} ${object.metadata?.name}` });
  }
}

for (const { object, where } of objects) {
  try {
    for (const Model of await modelsOf(object)) new Model(object).validate();
  } catch (error) {
    problems.push(`${where}: ${error.message}`);
  }
}

// An object literal may have no field that its type does not know: the compiler finds every other, at any depth.
const source = objects.map(({ object, where }, i) => {
  const type = `import('${moduleOf(object)}').I${object.kind}`;
  return `// ${where}\nexport const object${i}: ${type} = ${JSON.stringify(object)};\n`;
});
const folder = join(HERE, '..', 'dist', `types-${process.pid}`);
mkdirSync(folder, { recursive: true });
const file = join(folder, 'objects.mts');
writeFileSync(file, source.join(''));
const compilerOptions = { noEmit: true, strict: true, skipLibCheck: true, module: 'nodenext', types: [] };
writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['objects.mts'] }));
const compiler = join(HERE, '..', '..', '..', 'node_modules', '.bin', 'tsc');
const { status, stdout, error } = spawnSync(compiler, ['--pretty', 'false', '--project', folder], {
  encoding: 'utf8',
});
rmSync(folder, { recursive: true });
if (error) throw error;
if (status !== 0) {
  for (const line of stdout.split('\n')) {
    const at = /objects\.mts\((\d+),\d+\): (.*)/.exec(line);
    if (at) problems.push(`${objects[Math.floor((Number(at[1]) - 1) / 2)].where}: ${at[2]}`);
  }
  if (problems.length === 0) problems.push(stdout);
}

for (const problem of problems) console.log(problem);
console.log(`${objects.length} objects, ${problems.length} problems`);
process.exit(problems.length === 0 ? 0 : 1);
