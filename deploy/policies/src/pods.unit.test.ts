import { containers, EXAMPLES, type Labels, type Manifest, selects, valueOf, workloads } from './rendered';

describe.each(EXAMPLES)('pods of the %s example', (_name, manifests) => {
  const all = workloads(manifests);
  const each = all.map((workload) => [workload.manifest.metadata.name, workload] as const);
  const eachContainer = all.flatMap((workload) =>
    containers(workload).map(
      (container) => [`${workload.manifest.metadata.name}/${container.name}`, container] as const,
    ),
  );
  const serving = each.filter(([, { component }]) => !['migration', 'admin', 'exporter'].includes(component));

  it.each(each)(
    '%s runs as nobody in particular, under the default seccomp profile, without a token',
    (_n, workload) => {
      const { pod } = workload;
      expect(pod.securityContext).toMatchObject({
        runAsNonRoot: true,
        seccompProfile: { type: 'RuntimeDefault' },
      });
      expect(Number(pod.securityContext['runAsUser'])).toBeGreaterThan(0);
      expect(pod.automountServiceAccountToken).toBe(false);
    },
  );

  it.each(eachContainer)('%s can neither gain rights nor write outside its volumes', (_n, container) => {
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(container.volumeMounts.map(({ mountPath }) => mountPath)).toContain('/tmp');
  });

  /** https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted; the tests above are the rest. */
  it.each(each)('%s meets the restricted Pod Security Standard', (_n, { pod }) => {
    for (const name of ['hostNetwork', 'hostPID', 'hostIPC']) expect(pod).not.toHaveProperty(name);
    const kinds = pod.volumes.flatMap((volume) => Object.keys(volume)).filter((kind) => kind !== 'name');
    // Image volumes are newer than the list; a cluster that refuses them has packs of the other kinds.
    const allowed = ['configMap', 'emptyDir', 'persistentVolumeClaim', 'projected', 'secret', 'image'];
    for (const kind of kinds) expect(allowed).toContain(kind);
    for (const port of pod.containers.flatMap(({ ports = [] }) => ports))
      expect(port).not.toHaveProperty('hostPort');
  });

  it.each(each)('%s has scratch space that is bounded', (_n, { pod }) => {
    const limits = pod.volumes.flatMap(({ emptyDir }) => (emptyDir ? [emptyDir.sizeLimit] : []));
    for (const limit of limits) expect(limit).toMatch(/^\d+[MG]i$/);
  });

  it.each(eachContainer)('%s says what it needs and what it may take', (_n, { resources }) => {
    for (const amounts of [resources.requests, resources.limits]) {
      expect(amounts?.['cpu']).toBeDefined();
      expect(amounts?.['memory']).toBeDefined();
    }
    // A card is whole: Kubernetes refuses a request that is not the limit.
    expect(resources.requests?.['nvidia.com/gpu']).toBe(resources.limits?.['nvidia.com/gpu']);
  });

  it('an exporter puts its pack where a pool fetches one, and has room to make it', () => {
    const prefixes = all.flatMap(containers).map((container) => valueOf(container, 'MODEL_PACKS_S3_PREFIX'));
    for (const { pod } of all.filter(({ component }) => component === 'exporter')) {
      const to = pod.containers[0]?.args?.find((argument) => argument.startsWith('--to=')) ?? '';
      expect(prefixes).toContain(/^--to=s3:\/\/[^/]+\/(.*)$/.exec(to)?.[1]);
      expect(pod.containers[0]?.volumeMounts.map(({ mountPath }) => mountPath)).toContain('/work');
    }
  });

  it.each(serving)('%s is asked for its health on the internal port, with time to begin', (_n, { pod }) => {
    const [container] = pod.containers;
    if (container === undefined) throw new Error('no container');
    expect(container.ports).toContainEqual({ name: 'health', containerPort: 8081 });
    expect(valueOf(container, 'HEALTH_PORT')).toBe('8081');
    const { startupProbe, livenessProbe, readinessProbe } = container;
    expect(livenessProbe?.httpGet).toEqual({ path: '/healthz', port: 'health' });
    expect(readinessProbe?.httpGet).toEqual({ path: '/readyz', port: 'health' });
    // Liveness alone ends a process: what it depends on, or packs that take long, must not.
    expect(startupProbe?.httpGet).toEqual(livenessProbe?.httpGet);
    expect((startupProbe?.periodSeconds ?? 0) * (startupProbe?.failureThreshold ?? 0)).toBeGreaterThanOrEqual(
      60,
    );
  });

  it.each(serving)('%s has the time to shut down that its process takes', (_n, { pod, component }) => {
    const [container] = pod.containers;
    if (container === undefined) throw new Error('no container');
    const preStop = container.lifecycle?.preStop?.sleep?.seconds ?? 0;
    const grace = valueOf(container, 'SHUTDOWN_GRACE_SECONDS');
    // As packages/runtime bounds a shutdown: the grace and ten seconds to close, or twenty-five in all.
    const shutdown = grace === undefined ? 25 : Number(grace) + 10;
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(preStop + shutdown);
    // Requests still come for a while after a pod was told to go; to workers nothing comes.
    expect(preStop > 0).toBe(component === 'api');
  });

  it.each(serving)('%s is spread over zones and nodes, and evicted one at a time', (_n, { pod, labels }) => {
    const spread = pod.topologySpreadConstraints ?? [];
    expect(spread).toHaveLength(2);
    for (const { labelSelector } of spread) expect(selects(labelSelector.matchLabels, labels)).toBe(true);
    const budgets = manifests.filter(
      (manifest) => manifest.kind === 'PodDisruptionBudget' && covers(manifest, labels),
    );
    expect(budgets.map(({ spec }) => spec['maxUnavailable'])).toEqual([1]);
  });

  it('belong to one deployment each, and to no other one’s selector', () => {
    const deployments = all.filter(({ manifest }) => manifest.kind === 'Deployment');
    for (const { labels, manifest } of deployments) {
      const owners = deployments.filter((other) => covers(other.manifest, labels));
      expect(owners.map((owner) => owner.manifest.metadata.name)).toEqual([manifest.metadata.name]);
    }
  });

  it('are counted by nobody where a scaler counts them', () => {
    const scalers = manifests.filter(({ kind }) =>
      ['ScaledObject', 'HorizontalPodAutoscaler'].includes(kind),
    );
    const scaled = scalers.map(({ spec }) => (spec['scaleTargetRef'] as { name: string }).name);
    expect(new Set(scaled).size).toBe(scaled.length);
    for (const { manifest } of all.filter(({ manifest: { kind } }) => kind === 'Deployment'))
      expect('replicas' in manifest.spec).toBe(!scaled.includes(manifest.metadata.name));
  });

  it('get no secret from the chart', () => {
    expect(manifests.filter(({ kind }) => kind === 'Secret')).toEqual([]);
  });
});

/** Whether the object's selector chooses pods with these labels. */
function covers({ spec }: Manifest, labels: Labels): boolean {
  const { matchLabels } = spec['selector'] as { matchLabels: Labels };
  return selects(matchLabels, labels);
}
