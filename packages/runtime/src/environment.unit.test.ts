import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { environment } from './environment';

describe('docs/configuration.md', () => {
  const page = readFileSync(join(__dirname, '../../../docs/configuration.md'), 'utf8');

  it.each(Object.keys(environment.shape))('explains %s', (name) => {
    expect(page).toContain(`\`${name}\``);
  });
});
