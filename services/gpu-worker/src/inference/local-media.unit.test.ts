import { ftruncateSync, readdirSync, writeSync } from 'node:fs';
import { recordingOf } from '@lipsync/engines';
import { testFolder } from '@lipsync/testkit';
import { openSpeechFile } from './local-media';

describe('speech in a file', () => {
  const at = testFolder();

  test.each([
    ['a part', 100, 200],
    ['more than it on both sides', -20, 700],
    ['what lies behind it', 600, 700],
  ])('reads like speech in memory, with silence around it: %s', (_, from, to) => {
    const samples = Float32Array.from({ length: 500 }, (_value, i) => i + 1);
    const file = openSpeechFile(at('speech'));
    writeSync(file.descriptor, samples);
    const written = file.recording();
    expect(written).toHaveLength(500);
    const heard = written.read(from, to);
    expect(heard).toEqual(Float32Array.from({ length: to - from }, (_value, i) => samples[from + i] ?? 0));
    expect(heard).toEqual(recordingOf(samples).read(from, to));
    file.close();
  });

  test('has no name that could be left behind', () => {
    const file = openSpeechFile(at('speech'));
    expect(readdirSync(at())).toEqual([]);
    file.close();
  });

  test('cannot be read once closed: its descriptor may belong to another file by then', () => {
    const file = openSpeechFile(at('speech'));
    writeSync(file.descriptor, new Float32Array(10));
    const speech = file.recording();
    file.close();
    file.close();
    expect(() => speech.read(0, 10)).toThrow('closed');
  });

  test('is an error, not silence, when the file became shorter', () => {
    const file = openSpeechFile(at('speech'));
    writeSync(file.descriptor, new Float32Array(10));
    const speech = file.recording();
    ftruncateSync(file.descriptor, 20);
    expect(() => speech.read(0, 10)).toThrow('shorter');
    file.close();
  });
});
