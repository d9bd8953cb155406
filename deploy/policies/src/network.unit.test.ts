import { isPublicAddress } from '@lipsync/domain';
import fc from 'fast-check';
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
      // Media comes over 443 alone; webhooks go to the port of their address.
      const wanted: Record<string, unknown[]> = {
        'media-worker': [[{ port: 443, protocol: 'TCP' }]],
        'webhook-dispatcher': [[{ protocol: 'TCP' }]],
      };
      expect(everywhere.map(({ ports }) => ports)).toEqual(wanted[pod.component] ?? []);
    },
  );

  it.each(each)('$name resolves names', ({ labels }) => {
    const ports = egressOf(labels).flatMap(({ ports }) => ports ?? []);
    expect(ports).toEqual(
      expect.arrayContaining([
        { port: 53, protocol: 'UDP' },
        { port: 53, protocol: 'TCP' },
      ]),
    );
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

  it('let requests reach the API', () => {
    const api = each.find(({ component }) => component === 'api');
    const ports = forPod(api?.labels ?? {}).flatMap(({ ingress = [] }) =>
      ingress.flatMap((rule) => rule.ports ?? []),
    );
    expect(ports).toContainEqual({ port: 'http', protocol: 'TCP' });
  });

  // Also where no Prometheus operator is: the small example has none.
  it.each(each)('let $name be scraped', ({ labels }) => {
    const ports = forPod(labels).flatMap(({ ingress = [] }) => ingress.flatMap((rule) => rule.ports ?? []));
    expect(ports).toContainEqual({ port: 8081, protocol: 'TCP' });
  });

  it('mean by the internet what the service itself means by it', () => {
    const worker = each.find(({ component }) => component === 'media-worker');
    const blocks = egressOf(worker?.labels ?? {})
      .flatMap(({ to }) => to ?? [])
      .flatMap(({ ipBlock }) =>
        ipBlock && ['0.0.0.0/0', '2000::/3'].includes(ipBlock.cidr) ? [ipBlock] : [],
      );
    const allowed = (address: bigint, bits: number): boolean =>
      blocks
        .filter(({ cidr }) => cidr.includes(':') === (bits === 128))
        .some(
          ({ cidr, except = [] }) => within(address, cidr) && !except.some((range) => within(address, range)),
        );
    // Around the borders of every range, where two lists would differ, and anywhere.
    const borders = blocks
      .flatMap(({ except = [] }) => except)
      .flatMap((range) => {
        const { first, last, bits } = rangeOf(range);
        return [first - 1n, first, last, last + 1n].map((address) => ({ address, bits }));
      })
      .filter(({ address, bits }) => address >= 0n && address < 1n << BigInt(bits));
    const anywhere = fc.oneof(
      fc.bigInt({ min: 0n, max: (1n << 32n) - 1n }).map((address) => ({ address, bits: 32 })),
      fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }).map((address) => ({ address, bits: 128 })),
    );
    for (const { address, bits } of borders)
      expect([text(address, bits), allowed(address, bits)]).toEqual([
        text(address, bits),
        isPublicAddress(text(address, bits)),
      ]);
    fc.assert(
      fc.property(
        anywhere,
        ({ address, bits }) => allowed(address, bits) === isPublicAddress(text(address, bits)),
      ),
    );
  });
});

function rangeOf(cidr: string): { first: bigint; last: bigint; bits: number } {
  const [base = '', length = ''] = cidr.split('/');
  const bits = base.includes(':') ? 128 : 32;
  const size = 1n << BigInt(bits - Number(length));
  const first = numberOf(base);
  return { first, last: first + size - 1n, bits };
}

function within(address: bigint, cidr: string): boolean {
  const { first, last } = rangeOf(cidr);
  return address >= first && address <= last;
}

function numberOf(ip: string): bigint {
  if (!ip.includes(':')) return ip.split('.').reduce((sum, part) => (sum << 8n) + BigInt(part), 0n);
  const [head = '', tail = ''] = ip.split('::');
  const words = (half: string): string[] => (half === '' ? [] : half.split(':'));
  const zeros = Array.from({ length: 8 - words(head).length - words(tail).length }, () => '0');
  return [...words(head), ...zeros, ...words(tail)].reduce(
    (sum, word) => (sum << 16n) + BigInt(`0x${word}`),
    0n,
  );
}

function text(address: bigint, bits: number): string {
  const size = bits === 32 ? 8n : 16n;
  const parts = Array.from({ length: bits === 32 ? 4 : 8 }, (_, i) => {
    const shift = size * BigInt((bits === 32 ? 3 : 7) - i);
    return ((address >> shift) & ((1n << size) - 1n)).toString(bits === 32 ? 10 : 16);
  });
  return parts.join(bits === 32 ? '.' : ':');
}
