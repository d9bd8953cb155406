// HEALTHCHECK of every image: asks the process whether it is healthy. (The images have no curl. Docker sets the
// timeout.)
fetch(`http://127.0.0.1:${process.env.HEALTH_PORT || '8081'}/healthz`).then(
  ({ ok }) => process.exit(ok ? 0 : 1),
  () => process.exit(1),
);
