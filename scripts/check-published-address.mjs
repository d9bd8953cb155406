// Runs before `pnpm publish`, in the folder of the package: what is published leads its readers to the repository, and
// only whoever publishes knows where that is. Until then the packages name an address that is reserved for examples.
import { readFileSync } from 'node:fs';

const { name, homepage, repository, bugs } = JSON.parse(readFileSync('package.json', 'utf8'));
if ([homepage, repository.url, bugs].some((address) => /\bexample\.com\b/.test(address))) {
  process.stderr.write(
    `${name} is not published: its package.json names git.example.com as its homepage, repository or bugs.\n` +
      'Write the public address of this repository there (docs/releasing.md).\n',
  );
  process.exit(1);
}
