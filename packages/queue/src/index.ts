export { createEnqueuer, type Enqueuer } from './enqueue';
export { type Message, type Messages, openMessages } from './messages';
export { createQueues, type JobMessage, type Queues } from './queues';
export { createRateLimiter, type RateLimiter, type RateRequest, type RateVerdict } from './rate-limiter';
export { withTimeout } from './redis';
export { listen } from './signals';
