import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CONTAINERS } from '../ffmpeg/input-arguments';
import { AUDIO_CODECS, VIDEO_CODECS } from './media-limits';

/** Where the accepted kinds are listed for those who send media. */
const read = (file: string): string =>
  readFileSync(join(__dirname, '../../../..', file), 'utf8').replaceAll(/\s+/g, ' ');

it.each(['packages/contract/openapi/openapi.yaml', 'services/api/docs/limits.md'])(
  '%s names every accepted container and codec',
  (file) => {
    const text = read(file);
    const names = [...CONTAINERS.values(), ...VIDEO_CODECS.values(), ...AUDIO_CODECS.values()]
      .flatMap((name) => name.split(', '))
      .map((name) => name.replace('WMA Pro', 'Pro'));
    expect(names.filter((name) => !text.includes(name))).toEqual([]);
  },
);
