export { createEnqueuer, type Enqueuer } from './enqueue';
export { type Message, openMessages } from './messages';
export { createQueues, type Queues } from './queues';
export { createRateLimiter, type RateLimiter, type RateVerdict } from './rate-limiter';
export { withTimeout } from './redis';
export { listen } from './signals';
