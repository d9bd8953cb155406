import { Command, InvalidArgumentError } from 'commander';
import { SCENARIOS } from './config';
import * as parse from './options';
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

  it('gives each behavior its own address under the public one', async () => {
    const target = await open(
      ...DEPLOYMENT,
      '--webhook-url',
      'https://{behaviour}.hooks.example.com/load/',
      '--listen',
      '127.0.0.1:0',
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

describe('options of a load test', () => {
  it.each([
    ['90', 90],
    ['90s', 90],
    ['1.5m', 90],
    ['2h', 7200],
  ])('reads %s as %d seconds', (text, seconds) => {
    expect(parse.parseDuration(text)).toBe(seconds);
  });

  it.each([
    ['20', 20],
    ['20/s', 20],
    ['30/m', 0.5],
    ['30/min', 0.5],
    ['1800/h', 0.5],
  ])('reads %s as %d per second', (text, perSecond) => {
    expect(parse.parseRate(text)).toBe(perSecond);
  });

  it('reads alternatives of engines, each a set', () => {
    expect(parse.parseEngineSets('musetalk+latentsync,highsync')).toEqual([
      ['musetalk', 'latentsync'],
      ['highsync'],
    ]);
    expect(parse.parseSyncModes('loop, bounce')).toEqual(['loop', 'bounce']);
  });

  it('reads weights', () => {
    expect(parse.parseMix('get=3,create=1')).toEqual({ get: 3, create: 1 });
    expect(parse.parseReceiverShares('fast=9,hanging=1')).toEqual({
      fast: 9,
      slow: 0,
      hanging: 1,
      failing: 0,
    });
  });

  it('reads addresses', () => {
    expect(parse.parseListen('8443')).toEqual({ host: '0.0.0.0', port: 8443 });
    expect(parse.parseListen('127.0.0.1:8443')).toEqual({ host: '127.0.0.1', port: 8443 });
    expect(parse.parseHttpsUrl('https://{behaviour}.example.com/hooks')).toContain('{behaviour}');
  });

  it.each([
    ['a duration', () => parse.parseDuration('soon')],
    ['a rate', () => parse.parseRate('0')],
    ['a rate of days', () => parse.parseRate('1/d')],
    ['a share', () => parse.parseRatio('1.1')],
    ['an engine', () => parse.parseEngineSets('musetalk,wav2lip')],
    ['a journey', () => parse.parseMix('put=1')],
    ['a mix of nothing', () => parse.parseMix('get=0')],
    ['a receiver', () => parse.parseReceiverShares('dead=1')],
    ['a port', () => parse.parseListen('70000')],
    ['a target', () => parse.parseHttpUrl('ftp://example.com')],
    ['a webhook address', () => parse.parseHttpsUrl('http://example.com')],
  ])('refuses what is not %s', (_, read) => {
    expect(read).toThrow(InvalidArgumentError);
  });
});
