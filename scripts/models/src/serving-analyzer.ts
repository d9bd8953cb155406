import { type PackFolder } from '@lipsync/gpu-worker';

/** The folder of the face analyser in use, among those under `packsDir`. Throws when there is none. */
export function servingAnalyzer(packs: readonly PackFolder[], packsDir: string): PackFolder {
  const serving = packs.find(({ pack, behind }) => pack.manifest.engine === 'analyzer' && !behind);
  if (serving === undefined) throw new Error(`${packsDir} holds no face analyser that can be used`);
  return serving;
}
