import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseAllDocuments } from 'yaml';

/** Parts of Kubernetes objects that are looked at here; what shape they have is another test's business. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly labels: Labels;
    readonly annotations?: Labels;
  };
  /** Empty where there is none. */
  readonly spec: Readonly<Record<string, unknown>>;
}

export type Labels = Readonly<Record<string, string>>;

interface EnvVar {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly secretKeyRef?: { readonly name: string; readonly key: string; readonly optional?: boolean };
    readonly fieldRef?: { readonly fieldPath: string };
  };
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
  readonly periodSeconds: number;
  readonly failureThreshold: number;
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly args?: readonly string[];
  readonly env: readonly EnvVar[];
  readonly ports?: readonly { readonly name: string; readonly containerPort: number }[];
  readonly securityContext?: unknown;
  readonly resources: {
    readonly requests?: Readonly<Record<string, string | number>>;
    readonly limits?: Readonly<Record<string, string | number>>;
  };
  readonly startupProbe?: Probe;
  readonly livenessProbe?: Probe;
  readonly readinessProbe?: Probe;
  readonly lifecycle?: { readonly preStop?: { readonly sleep?: { readonly seconds: number } } };
  readonly volumeMounts: readonly {
    readonly name: string;
    readonly mountPath: string;
    readonly readOnly?: boolean;
  }[];
}

interface PodSpec {
  readonly automountServiceAccountToken?: boolean;
  readonly securityContext: Readonly<Record<string, unknown>>;
  readonly terminationGracePeriodSeconds?: number;
  readonly topologySpreadConstraints?: readonly {
    readonly labelSelector: { readonly matchLabels: Labels };
  }[];
  readonly initContainers?: readonly Container[];
  readonly containers: readonly Container[];
  readonly volumes: readonly { readonly name: string; readonly emptyDir?: { readonly sizeLimit?: string } }[];
}

/** A pod as some object of the chart makes it. */
export interface Workload {
  readonly manifest: Manifest;
  readonly component: string;
  readonly labels: Labels;
  readonly pod: PodSpec;
}

const RENDERED = join(__dirname, '../../helm/rendered');
export const CHART = join(__dirname, '../../helm/lipsync');

/** The files under deploy/helm/rendered, one for each example. */
export const RENDERED_FILES = readdirSync(RENDERED)
  .sort()
  .map((name) => join(RENDERED, name));

/** What each example renders to, by the example's name. */
export const EXAMPLES: readonly (readonly [name: string, manifests: readonly Manifest[]])[] =
  RENDERED_FILES.map((file) => [
    basename(file, '.yaml'),
    parseAllDocuments(readFileSync(file, 'utf8')).map((document) => ({
      spec: {},
      ...(document.toJS() as Omit<Manifest, 'spec'>),
    })),
  ]);

export function workloads(manifests: readonly Manifest[]): Workload[] {
  return manifests.flatMap((manifest) => {
    const { template } = manifest.spec as {
      template?: { metadata: { labels: Labels }; spec: PodSpec };
    };
    if (template === undefined) return [];
    const { labels } = template.metadata;
    return [{ manifest, component: labels['app.kubernetes.io/component'] ?? '', labels, pod: template.spec }];
  });
}

/** Init containers first, as they run. */
export function containers({ pod }: Workload): readonly Container[] {
  return [...(pod.initContainers ?? []), ...pod.containers];
}

/** The value of a variable, if it is written in the manifest itself. */
export function valueOf(container: Container | undefined, name: string): string | undefined {
  return container?.env.find((variable) => variable.name === name)?.value;
}

export function selects(selector: Labels, labels: Labels): boolean {
  return Object.entries(selector).every(([name, value]) => labels[name] === value);
}
