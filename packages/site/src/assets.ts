import { join } from 'node:path';

/** What the pages load: docs.css, theme.js and docs.js, as the build of this package has made them. */
export const assetsFolder = (): string => join(__dirname, '..', 'dist', 'assets');
