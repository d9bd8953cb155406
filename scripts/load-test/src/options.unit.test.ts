import { Command } from 'commander';
import { SCENARIOS } from './config';
import { addLoadTestOptions, configOf, type LoadTestOptions, openTarget } from './options';

function parsed(...args: string[]): LoadTestOptions {
  const program = addLoadTestOptions(new Command());
  return program.parse(args, { from: 'user' }).opts();
}
const open = (...args: string[]) => openTarget(parsed(...args), () => undefined);
const DEPLOYMENT = ['--target', 'https://api.example.com', '--key', 'svc_one'];

describe('the load-test command line', () => {
  it.each(SCENARIOS)('has sensible settings for %s without any option', (scenario) => {
    const config = configOf(parsed('--scenario', scenario));
    expect(config.scenario).toBe(scenario);
    expect(config.streams.length).toBeGreaterThan(0);
    for (const { plan, mix } of config.streams) {
      expect(plan).toMatchObject({
        kind: 'poisson',
        durationSeconds: config.warmUpSeconds + config.durationSeconds,
      });
      expect(Object.keys(mix).length).toBeGreaterThan(0);
    }
  });

  it('gives each stream of a soak its rate', () => {
    const { streams } = configOf(
      parsed(
        '--scenario',
        'soak',
        '--rate',
        '30',
        '--render-rate',
        '6/m',
        '--webhook-rate',
        '5',
        '--burst',
        '7',
      ),
    );
    expect(streams.map(({ name, plan }) => ({ name, plan }))).toMatchObject([
      { name: 'control-plane', plan: { ratePerSecond: 30, burstSize: 1 } },
      { name: 'renders', plan: { ratePerSecond: 0.1, burstSize: 1 } },
      { name: 'webhooks', plan: { ratePerSecond: 5, burstSize: 7 } },
    ]);
  });

  it('accepts the mix of the control plane', () => {
    const { streams } = configOf(parsed('--mix', 'get=1'));
    expect(streams[0]?.mix).toEqual({ get: 1 });
  });

  it('accepts several customers of a deployment, and says that webhooks cannot be seen without an address', async () => {
    const target = await open(...DEPLOYMENT, '--key', 'svc_two');
    expect(target).toMatchObject({
      baseUrl: 'https://api.example.com',
      customers: [{ apiKey: 'svc_one' }, { apiKey: 'svc_two' }],
      webhooks: null,
      isLocal: false,
    });
    await target.close();
  });

  it('gives each behaviour its own address under the public one', async () => {
    const target = await open(
      ...DEPLOYMENT,
      ...['--webhook-url', 'https://{behaviour}.hooks.example.com/load/', '--listen', '127.0.0.1:0'],
    );
    expect(target.webhooks?.url(0, 'slow')).toMatch(
      /^https:\/\/slow\.hooks\.example\.com\/load\/[0-9a-f]{12}\/0\/slow$/,
    );
    expect(target.webhooks?.verifiesSignatures).toBe(false);
    await target.close();
  });

  it.each([
    ['a target without a key', ['--target', 'https://api.example.com'], '--key'],
    ['a key without a target', ['--key', 'svc_one'], '--target'],
    [
      'secrets for some keys only',
      [...DEPLOYMENT, '--key', 'svc_two', '--signing-secret', 'ab'],
      '--signing-secret',
    ],
    [
      'a webhook address that nobody listens at',
      [...DEPLOYMENT, '--webhook-url', 'https://a.example'],
      '--listen',
    ],
    ['half a certificate', [...DEPLOYMENT, '--tls-cert', 'cert.pem'], '--tls-key'],
    ['workers of a deployment', [...DEPLOYMENT, '--workers', '2'], '--workers'],
  ])('refuses %s', async (_, args, named) => {
    await expect(open(...args)).rejects.toThrow(named);
  });
});
