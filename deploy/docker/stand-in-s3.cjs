// Replaces versitygw where its image cannot be pulled (base-images.sh): the tests' S3 double, which verifies
// signatures, with the variables and the health path of the original. The double listens only on loopback and on a port
// of its own, so this server forwards every request unchanged, including the signed Host header.
const { Agent, createServer, request } = require('node:http');
const { startS3Server } = require('./dist/s3/s3-server');

function setting(name) {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set`);
  return value;
}

async function main() {
  const store = await startS3Server({
    dataDir: setting('VGW_BACKEND_ARG'),
    bucket: 'stand-in',
    accessKeyId: setting('ROOT_ACCESS_KEY_ID'),
    secretAccessKey: setting('ROOT_SECRET_ACCESS_KEY'),
  });
  const agent = new Agent({ keepAlive: true });
  const server = createServer((message, response) => {
    if (message.url === setting('VGW_HEALTH')) return response.end('OK');
    const { method, url: path, rawHeaders: headers } = message;
    const onward = request(
      { agent, host: '127.0.0.1', port: store.port, method, path, headers },
      (answer) => {
        response.writeHead(answer.statusCode, answer.rawHeaders);
        answer.pipe(response);
      },
    );
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    message.pipe(onward);
  });
  server.keepAliveTimeout = 120_000;
  server.listen(Number(setting('VGW_PORT').replace(/^.*:/, '')), '0.0.0.0');
  for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => process.exit(0));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
