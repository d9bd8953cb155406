import { MediaError, MediaProcessError } from '@lipsync/media';
import { PackError } from '@lipsync/model-pack';
import { SessionError } from './sessions/session';
import { taskFailure } from './task-failure';

describe('what a failed task reports', () => {
  test.each([
    ['a graph that asked for too much', new SessionError('out_of_memory', ''), 'engine_out_of_memory'],
    [
      'an array that could not be had',
      new RangeError('Array buffer allocation failed'),
      'engine_out_of_memory',
    ],
    [
      'a pixel kernel that got no memory',
      new RangeError('WebAssembly.Memory(): could not allocate memory'),
      'engine_out_of_memory',
    ],
    ['a graph that failed otherwise', new SessionError('run_failed', ''), 'engine_failed'],
    ['a mistake in a range', new RangeError('offset is out of bounds'), 'engine_failed'],
    ['a decoder that was killed', new MediaProcessError('killed', ''), 'engine_failed'],
    ['a pack that is not what it was', new PackError('pack_replaced', ''), 'pack_lost'],
    ['a broken video', new MediaError('media_corrupt', ''), 'media_corrupt'],
  ])('%s', (_, error, code) => {
    expect(taskFailure(error).code).toBe(code);
  });

  test('a failed graph, unless it ran out of memory: its process may be unusable', () => {
    const reasons = ['run_failed', 'load_failed', 'out_of_memory'] as const;
    const told = reasons.map((reason) => taskFailure(new SessionError(reason, '')).graphFailed);
    expect(told).toEqual([true, true, undefined]);
    expect(taskFailure(new MediaProcessError('killed', ''))).not.toHaveProperty('graphFailed');
  });
});
