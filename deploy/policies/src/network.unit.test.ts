import { isPublicAddress } from '@lipsync/domain';
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { EXAMPLES, type Labels, type Manifest, selects, workloads } from './rendered';

interface Peer {
  readonly ipBlock?: { readonly cidr: string; readonly except?: readonly string[] };
  readonly namespaceSelector?: unknown;
}
interface Rule {
  readonly to?: readonly Peer[];
  readonly from?: readonly Peer[];
  readonly ports?: readonly { readonly port?: number | string; readonly protocol: string }[];
}
interface Policy {
  readonly podSelector: { readonly matchLabels: Labels };
  readonly policyTypes: readonly string[];
  readonly egress?: readonly Rule[];
  readonly ingress?: readonly Rule[];
}

const policyOf = (manifest: Manifest): Policy => manifest.spec as unknown as Policy;

describe.each(EXAMPLES)('network policies of the %s example', (_name, manifests) => {
  const policies = manifests.filter(({ kind }) => kind === 'NetworkPolicy').map(policyOf);
  const each = workloads(manifests).map((workload) => ({
    name: workload.manifest.metadata.name,
    ...workload,
  }));
  const forPod = (labels: Labels): Policy[] =>
    policies.filter(({ podSelector }) => selects(podSelector.matchLabels, labels));
  const egressOf = (labels: Labels): Rule[] => forPod(labels).flatMap(({ egress }) => egress ?? []);

  it.each(each)('$name may do nothing that no rule allows', ({ labels }) => {
    const types = forPod(labels).filter(
      ({ egress, ingress }) => egress === undefined && ingress === undefined,
    );
    expect(types.map(({ policyTypes }) => [...policyTypes].sort())).toEqual([['Egress', 'Ingress']]);
  });

  it.each(each)(
    '$name reaches no destination without a port, and the internet only if it fetches or delivers',
    (pod) => {
      const rules = egressOf(pod.labels);
      for (const { to, ports } of rules) {
        expect(to?.length).toBeGreaterThan(0);
        expect(ports?.length).toBeGreaterThan(0);
      }
      const everywhere = rules.filter(({ to }) => to?.some(({ ipBlock }) => ipBlock?.cidr === '0.0.0.0/0'));
      // Media and weights come over 443 alone; webhooks go to the port of their address.
      const wanted: Record<string, unknown[]> = {
        'media-worker': [[{ port: 443, protocol: 'TCP' }]],
        exporter: [[{ port: 443, protocol: 'TCP' }]],
        'webhook-dispatcher': [[{ protocol: 'TCP' }]],
      };
      expect(everywhere.map(({ ports }) => ports)).toEqual(wanted[pod.component] ?? []);
    },
  );

  // Scraped also where no Prometheus operator is: the small example has none.
  it.each(each)('$name resolves names, is scraped and, as the API, called', ({ labels, component }) => {
    const outward = egressOf(labels).flatMap(({ ports = [] }) => ports);
    for (const protocol of ['UDP', 'TCP']) expect(outward).toContainEqual({ port: 53, protocol });
    const inward = forPod(labels).flatMap(({ ingress = [] }) => ingress.flatMap(({ ports = [] }) => ports));
    expect(inward).toContainEqual({ port: 8081, protocol: 'TCP' });
    expect(inward.some(({ port }) => port === 'http')).toBe(component === 'api');
  });

  it('let in nothing but customers’ requests to the API and the watchers to metrics', () => {
    for (const { podSelector, ingress = [] } of policies) {
      for (const { from, ports } of ingress) {
        expect(from?.length).toBeGreaterThan(0);
        for (const { namespaceSelector } of from ?? []) expect(namespaceSelector).toBeDefined();
        const isApi = podSelector.matchLabels['app.kubernetes.io/component'] === 'api';
        expect(ports).toEqual([{ port: isApi ? 'http' : 8081, protocol: 'TCP' }]);
      }
    }
  });

  it('mean by the internet what the service itself means by it', () => {
    const worker = each.find(({ component }) => component === 'media-worker');
    const blocks = egressOf(worker?.labels ?? {})
      .flatMap(({ to }) => to ?? [])
      .flatMap(({ ipBlock }) =>
        ipBlock && ['0.0.0.0/0', '2000::/3'].includes(ipBlock.cidr) ? [ipBlock] : [],
      );
    const isAllowed = (ip: string): boolean =>
      blocks.some(({ cidr, except = [] }) => isIn(ip, cidr) && !except.some((range) => isIn(ip, range)));
    // Around the borders of every range, where two lists would differ, and anywhere.
    const borders = blocks.flatMap(({ except = [] }) => except).flatMap(bordersOf);
    const agree = (ip: string): void => expect([ip, isAllowed(ip)]).toEqual([ip, isPublicAddress(ip)]);
    borders.forEach(agree);
    fc.assert(fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), agree));
  });
});

function isIn(ip: string, cidr: string): boolean {
  const address = ipaddr.parse(ip);
  const [base, length] = ipaddr.parseCIDR(cidr);
  return address.kind() === base.kind() && address.match(base, length);
}

/** The first and last address of a range, and those beside them. */
function bordersOf(cidr: string): string[] {
  const [base, length] = ipaddr.parseCIDR(cidr);
  const bytes = base.toByteArray().length;
  const first = BigInt(`0x${Buffer.from(base.toByteArray()).toString('hex')}`);
  const beyond = first + (1n << BigInt(8 * bytes - length));
  return [first - 1n, first, beyond - 1n, beyond]
    .filter((number) => number >= 0n && number < 1n << BigInt(8 * bytes))
    .map((number) => {
      const hex = number.toString(16).padStart(2 * bytes, '0');
      return ipaddr.fromByteArray([...Buffer.from(hex, 'hex')]).toString();
    });
}
