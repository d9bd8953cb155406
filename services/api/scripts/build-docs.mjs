// Writes dist/docs: the documentation, made of docs/ and the contract, and the files that its pages load.
import { cp, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { assetsFolder, buildSite } from '@lipsync/site';

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const out = path.join(root, 'dist/docs');
const site = buildSite({ pages: path.join(root, 'docs'), samples: path.join(root, 'public') });

await mkdir(out, { recursive: true });
await writeFile(path.join(out, 'site.json'), JSON.stringify(site));
await cp(assetsFolder(), path.join(out, 'assets'), { recursive: true });
