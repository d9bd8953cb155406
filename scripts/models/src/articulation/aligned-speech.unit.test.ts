import { phoneGrammar, soundsOf, wordsOf } from './aligned-speech';

test('a transcript is read as words of the dictionary, whatever its case and punctuation', () => {
  expect(wordsOf("“Don’t stop!” Mr. Bean’s  well-known –\n'quoted' naïve 5 words…")).toEqual([
    "don't",
    'stop',
    'mr',
    "bean's",
    'well',
    'known',
    'quoted',
    'naïve',
    '5',
    'words',
  ]);
  expect(wordsOf(' …\n')).toEqual([]);
});

test('a word may be said in each of its ways, with or without a pause on either side, but with none inside', () => {
  const transitions = phoneGrammar([[['AH'], ['EY']], [['M', 'AE', 'P']]])
    .split('\n')
    .filter((line) => line.startsWith('TRANSITION'));
  expect(transitions).toEqual([
    'TRANSITION 0 1 0.5',
    'TRANSITION 0 1 0.5 <sil>',
    'TRANSITION 1 2 0.5 AH',
    'TRANSITION 1 2 0.5 EY',
    'TRANSITION 2 3 0.5',
    'TRANSITION 2 3 0.5 <sil>',
    'TRANSITION 3 5 1 M',
    'TRANSITION 5 6 1 AE',
    'TRANSITION 6 4 1 P',
    'TRANSITION 4 7 0.5',
    'TRANSITION 4 7 0.5 <sil>',
  ]);
});

test('phones last until the next one or a pause begins', () => {
  const line =
    'voice S 0 T -9 A -8 L -1 0 -149 -41 <sil> 20 -23 0 M 31 0 -41 (NULL) 32 -9 0 IY 40 -1 -41 <sil> 49\n';
  expect(soundsOf(line)).toEqual([
    { ipa: 'm', start: 0.2, end: 0.32 },
    { ipa: 'i', start: 0.32, end: 0.4 },
  ]);
  expect(soundsOf('voice S 0 T 0 A 0 L 0 0\n')).toEqual([]);
});
