import { EnvError, listOf, loadEnv, type NodeEnv, secondsList, sharedSettings } from './env';

const picked = sharedSettings.pick({
  NODE_ENV: true,
  DATABASE_URL: true,
  MASTER_KEY: true,
  DATABASE_POOL_MAX: true,
});
const good = { DATABASE_URL: 'postgres://localhost/x', MASTER_KEY: 'a'.repeat(64) };

describe('loadEnv', () => {
  it('converts and applies defaults, treating an empty variable as absent', () => {
    const nodeEnv: NodeEnv = 'production';
    expect(loadEnv(picked, { ...good, DATABASE_POOL_MAX: '7', NODE_ENV: '' })).toEqual({
      ...good,
      DATABASE_POOL_MAX: 7,
      NODE_ENV: nodeEnv,
    });
  });

  it('lists every invalid variable in one message and repeats no value', () => {
    const load = () => loadEnv(picked, { MASTER_KEY: 'hunter2', DATABASE_POOL_MAX: '0x10' });
    expect(load).toThrow(EnvError);
    expect(load).toThrow(/DATABASE_URL: is missing/);
    expect(load).toThrow(/MASTER_KEY: must be 64 hex digits/);
    expect(load).toThrow(/DATABASE_POOL_MAX/);
    expect(load).not.toThrow(/hunter2/);
  });

  it.each(['https://api.example.com', 'https://api.example.com/', 'https://api.example.com//'])(
    'reads the base URL %s without a trailing slash',
    (PUBLIC_BASE_URL) => {
      expect(loadEnv(sharedSettings.pick({ PUBLIC_BASE_URL: true }), { PUBLIC_BASE_URL })).toEqual({
        PUBLIC_BASE_URL: 'https://api.example.com',
      });
    },
  );

  it('reads lists and routes', () => {
    const schema = sharedSettings
      .pick({ EGRESS_ROUTES: true, S3_FORCE_PATH_STYLE: true })
      .extend({ DELAYS: secondsList, WORDS: listOf(['one', 'two', 'three']) });
    expect(
      loadEnv(schema, {
        DELAYS: '0, 1.5,60',
        WORDS: 'two, one',
        EGRESS_ROUTES: 'Media.example.test:443=127.0.0.1:8443,b.example.test:443=[::1]:9',
        S3_FORCE_PATH_STYLE: 'false',
      }),
    ).toEqual({
      DELAYS: [0, 1.5, 60],
      WORDS: ['two', 'one'],
      EGRESS_ROUTES: new Map([
        ['media.example.test:443', '127.0.0.1:8443'],
        ['b.example.test:443', '[::1]:9'],
      ]),
      S3_FORCE_PATH_STYLE: false,
    });
  });

  it.each([
    'a:443=10.0.0.1:443',
    'a:443=example.com:443',
    'a=127.0.0.1:1',
    'a:443=127.0.0.1:0',
    'a:443=127.0.0.1:99999',
  ])('refuses the route %s', (text) => {
    expect(() => loadEnv(sharedSettings.pick({ EGRESS_ROUTES: true }), { EGRESS_ROUTES: text })).toThrow(
      'EGRESS_ROUTES',
    );
  });
});
