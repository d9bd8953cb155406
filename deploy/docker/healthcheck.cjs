// HEALTHCHECK of every image: does the process answer that it works? (There is no curl in it. The time limit is Docker's.)
fetch(`http://127.0.0.1:${process.env.HEALTH_PORT || '8081'}/healthz`).then(
  ({ ok }) => process.exit(ok ? 0 : 1),
  () => process.exit(1),
);
