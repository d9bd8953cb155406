import { Command } from 'commander';
import { configOf, type LoadTestOptions, SCENARIOS } from './config';
import { addLoadTestOptions, openTarget } from './options';

function parsed(args: string): LoadTestOptions {
  const program = addLoadTestOptions(
    new Command().exitOverride().configureOutput({ writeErr: () => undefined }),
  );
  return program.parse(args === '' ? [] : args.split(' '), { from: 'user' }).opts();
}
const open = (args: string) => openTarget(parsed(args), () => undefined);
const DEPLOYMENT = '--target https://api.example.com --key svc_one';

describe('the load-test command line', () => {
  it.each(SCENARIOS)('has sensible settings for %s without any option', (scenario) => {
    const config = configOf(parsed(`--scenario ${scenario}`));
    expect(config.streams.length).toBeGreaterThan(0);
    for (const { plan, mix } of config.streams) {
      expect(plan).toMatchObject({ kind: 'poisson', durationSeconds: config.warmUp + config.duration });
      expect(Object.keys(mix).length).toBeGreaterThan(0);
    }
  });

  it('gives each stream of a soak its rate', () => {
    const options = '--scenario soak --rate 30 --render-rate 6/m --webhook-rate 5 --burst 7';
    expect(configOf(parsed(options)).streams.map(({ name, plan }) => ({ name, plan }))).toMatchObject([
      { name: 'control-plane', plan: { ratePerSecond: 30, burstSize: 1 } },
      { name: 'renders', plan: { ratePerSecond: 0.1, burstSize: 1 } },
      { name: 'webhooks', plan: { ratePerSecond: 5, burstSize: 7 } },
    ]);
  });

  it.each<[string, Partial<LoadTestOptions>]>([
    ['--duration 90', { duration: 90 }],
    ['--duration 90s', { duration: 90 }],
    ['--warm-up 1.5m', { warmUp: 90 }],
    ['--duration 2h', { duration: 7200 }],
    ['--rate 20/s', { rate: 20 }],
    ['--rate 30/m', { rate: 0.5 }],
    ['--rate 30/min', { rate: 0.5 }],
    ['--rate 1800/h', { rate: 0.5 }],
    ['--engines musetalk+latentsync,highsync', { engines: [['musetalk', 'latentsync'], ['highsync']] }],
    ['--sync-modes loop,bounce', { syncModes: ['loop', 'bounce'] }],
    ['--mix get=3,create=1', { mix: { get: 3, create: 1 } }],
    ['--receivers fast=9,hanging=1', { receivers: { fast: 9, slow: 0, hanging: 1, failing: 0 } }],
    ['--listen 8443', { listen: { host: '0.0.0.0', port: 8443 } }],
    ['--listen 127.0.0.1:8443', { listen: { host: '127.0.0.1', port: 8443 } }],
  ])('reads %s', (args, options) => {
    expect(parsed(args)).toMatchObject(options);
  });

  it.each([
    '--duration soon',
    '--rate 0',
    '--rate 1/d',
    '--max-failures 1.1',
    '--engines musetalk,wav2lip',
    '--mix put=1',
    '--mix get=0',
    '--receivers dead=1',
    '--listen 70000',
    '--target ftp://example.com',
    '--webhook-url http://example.com',
  ])('refuses %s', (args) => {
    expect(() => parsed(args)).toThrow('is invalid');
  });

  it('accepts several customers of a deployment, and says that webhooks cannot be seen without an address', async () => {
    const target = await open(`${DEPLOYMENT} --key svc_two`);
    expect(target).toMatchObject({
      baseUrl: 'https://api.example.com',
      customers: [{ apiKey: 'svc_one' }, { apiKey: 'svc_two' }],
      webhooks: null,
      isLocal: false,
    });
    await target.close();
  });

  it('gives each behavior its own address under the public one', async () => {
    const target = await open(
      `${DEPLOYMENT} --webhook-url https://{behavior}.hooks.example.com/load/ --listen 127.0.0.1:0`,
    );
    expect(target.webhooks?.url(0, 'slow')).toMatch(
      /^https:\/\/slow\.hooks\.example\.com\/load\/[0-9a-f]{12}\/0\/slow$/,
    );
    expect(target.webhooks?.verifiesSignatures).toBe(false);
    await target.close();
  });

  it.each([
    ['a target without a key', '--target https://api.example.com', '--key'],
    ['a key without a target', '--key svc_one', '--target'],
    ['secrets for some keys only', `${DEPLOYMENT} --key svc_two --signing-secret ab`, '--signing-secret'],
    ['an address that nobody listens at', `${DEPLOYMENT} --webhook-url https://a.example`, '--listen'],
    ['half a certificate', `${DEPLOYMENT} --tls-cert cert.pem`, '--tls-key'],
    ['workers of a deployment', `${DEPLOYMENT} --workers 2`, '--workers'],
  ])('refuses %s', async (_, args, named) => {
    await expect(open(args)).rejects.toThrow(named);
  });
});
