import type { Outcome } from '../failures/exit-codes';
import { type ConnectionFlags, resolveConnection } from './connection';
import type { Environment } from './profiles';

const work = { baseUrl: 'https://work.example.com', apiKey: 'svc_work' };
const home = { baseUrl: 'https://home.example.com', apiKey: 'svc_home' };
const profiles = { current: 'work', byName: new Map(Object.entries({ work, home })) };
const twoAtHome = { current: 'work', byName: new Map(Object.entries({ work, home, guest: home })) };
const none = { current: null, byName: new Map() };
const environment = { LIPSYNC_API_KEY: 'svc_env', LIPSYNC_BASE_URL: 'https://env.example.com/' };

it.each<[string, ConnectionFlags, Environment, object]>([
  ['the current profile', {}, {}, { ...work, profile: 'work' }],
  [
    'the environment before the profile',
    {},
    environment,
    { apiKey: 'svc_env', baseUrl: 'https://env.example.com' },
  ],
  ['LIPSYNC_PROFILE', {}, { LIPSYNC_PROFILE: 'home' }, { ...home, profile: 'home' }],
  ['--profile before the environment', { profile: 'home' }, environment, { ...home, profile: 'home' }],
  [
    '--base-url before the environment',
    { baseUrl: 'https://flag.example.com' },
    environment,
    { apiKey: 'svc_env', baseUrl: 'https://flag.example.com' },
  ],
  ['the profile for an address that is named', { baseUrl: home.baseUrl }, {}, { ...home, profile: 'home' }],
  [
    'the profile for the address of the environment',
    {},
    { LIPSYNC_BASE_URL: `${home.baseUrl}/` },
    { ...home, profile: 'home' },
  ],
  ['an empty variable as none', {}, { LIPSYNC_API_KEY: '' }, { ...work, profile: 'work' }],
  [
    'the address of a profile with the key of the environment',
    {},
    { LIPSYNC_API_KEY: 'svc_env' },
    { baseUrl: work.baseUrl, apiKey: 'svc_env' },
  ],
])('takes %s', (_, flags, env, expected) => {
  expect(resolveConnection(flags, env, profiles)).toMatchObject(expected);
});

it.each<[string, ConnectionFlags, Environment, typeof profiles | typeof none, Outcome]>([
  [
    'the key of a profile to another address',
    { baseUrl: 'https://evil.example.com' },
    {},
    profiles,
    'unauthorized',
  ],
  [
    'the key of a profile to the address of the environment',
    {},
    { LIPSYNC_BASE_URL: 'https://e.example.com' },
    profiles,
    'unauthorized',
  ],
  [
    'a named profile’s key to the address of another one',
    { profile: 'work', baseUrl: home.baseUrl },
    {},
    profiles,
    'unauthorized',
  ],
  ['one of two keys for an address', { baseUrl: home.baseUrl }, {}, twoAtHome, 'unauthorized'],
  ['anything without a key', {}, {}, none, 'unauthorized'],
  ['anything without an address', {}, { LIPSYNC_API_KEY: 'svc_env' }, none, 'usage'],
  ['anything for an unknown profile', { profile: 'prod' }, {}, profiles, 'unauthorized'],
  [
    'anything to what is no address',
    { baseUrl: 'example.com' },
    { LIPSYNC_API_KEY: 'svc_env' },
    none,
    'usage',
  ],
])('never sends %s', (_, flags, env, known, outcome) => {
  let refusal: unknown;
  try {
    resolveConnection(flags, env, known);
  } catch (error) {
    refusal = error;
  }
  expect(refusal).toMatchObject({ name: 'CommandError', outcome });
});
