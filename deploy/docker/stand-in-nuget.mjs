// stand-in-nuget.mjs PORT PACKAGE VERSION FILE…: a NuGet server for each file, at /<file name>, with that one package
// in that one version, and an npm registry with one package. Answers the requests of cuda-provider.mjs as they do, and
// nothing else.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { basename } from 'node:path';

const [, , port, name, version, ...files] = process.argv;
const packages = new Map(files.map((file) => [basename(file), readFileSync(file)]));

function answer(at, bytes, path) {
  switch (path) {
    case 'index.json':
      return {
        version: '3.0.0',
        resources: [
          { '@id': `${at}/registration`, '@type': 'RegistrationsBaseUrl/3.6.0' },
          { '@id': `${at}/packages/`, '@type': 'PackageBaseAddress/3.0.0' },
        ],
      };
    case `registration/${name}/${version}.json`:
      return { catalogEntry: `${at}/catalog/${name}.${version}.json` };
    case `catalog/${name}.${version}.json`:
      return {
        packageHash: createHash('sha512').update(bytes).digest('base64'),
        packageHashAlgorithm: 'SHA512',
      };
    case `packages/${name}/${version}/${name}.${version}.nupkg`:
    case 'com.github.asus4.onnxruntime.linux-x64-gpu/-/com.github.asus4.onnxruntime.linux-x64-gpu-0.4.9.tgz':
      return bytes;
  }
}

const server = createServer(({ url, headers }, response) => {
  const [, file, ...path] = url.split('/');
  const bytes = packages.get(file);
  const found = bytes && answer(`http://${headers.host}/${file}`, bytes, path.join('/'));
  console.log(found ? 200 : 404, url);
  if (!found) response.writeHead(404).end();
  else response.end(Buffer.isBuffer(found) ? found : JSON.stringify(found));
});
// Port 0 is any that is free.
server.listen(Number(port), () => console.log(`port ${server.address().port}`));
for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => process.exit(0));
