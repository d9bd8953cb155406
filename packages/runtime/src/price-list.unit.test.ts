import { EnvError, loadEnv, sharedSettings } from './env';
import { priceOf } from './price-list';

const settings = sharedSettings.pick({ PRICE_LIST: true });
const read = (PRICE_LIST: string) => loadEnv(settings, { PRICE_LIST }).PRICE_LIST;

describe('a price list', () => {
  it('prices a minute of output by engine, and knows of no price where it names none', () => {
    const list = read('{"currency":"EUR","per_minute":{"musetalk":0.2,"highsync":0}}');
    if (list === undefined) throw new Error('there is one');
    expect(list.currency).toBe('EUR');
    expect(priceOf(list, 'musetalk', 90)).toBeCloseTo(0.3);
    expect([priceOf(list, 'highsync', 90), priceOf(list, 'latentsync', 90)]).toEqual([0, null]);
  });

  it('may be left out', () => {
    expect(read('')).toBeUndefined();
  });

  it.each([
    ['0.2', /PRICE_LIST: /],
    ['{"currency":"EUR"', /PRICE_LIST: must be JSON/],
    ['{"currency":"euro","per_minute":{}}', /PRICE_LIST.currency: .*capital letters/],
    ['{"currency":"EUR","per_minute":{"wav2lip":1}}', /PRICE_LIST.per_minute/],
    ['{"currency":"EUR","per_minute":{"musetalk":-1}}', /PRICE_LIST.per_minute.musetalk: /],
    ['{"currency":"EUR","per_minute":{"musetalk":"0.2"}}', /PRICE_LIST.per_minute.musetalk: /],
    ['{"currency":"EUR","per_minute":{},"per_second":{}}', /PRICE_LIST: .*per_second/],
  ])('%s is refused with the reason', (text, reason) => {
    expect(() => read(text)).toThrow(EnvError);
    expect(() => read(text)).toThrow(reason);
  });
});
