import { isId } from '@lipsync/domain';
import { createIdSource } from './id-source';

it('makes well-formed identifiers that sort by creation time and do not repeat', () => {
  let nowMs = 1_700_000_000_000;
  const newId = createIdSource({ now: () => nowMs });
  const ids = Array.from({ length: 100 }, () => {
    nowMs += 1;
    return newId('ren');
  });
  expect(ids.every((id) => isId('ren', id))).toBe(true);
  expect([...ids].sort()).toEqual(ids);
  expect(new Set(Array.from({ length: 100 }, () => newId('ren'))).size).toBe(100);
});
