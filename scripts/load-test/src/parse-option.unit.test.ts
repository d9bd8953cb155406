import { InvalidArgumentError } from 'commander';
import * as parse from './options';

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
