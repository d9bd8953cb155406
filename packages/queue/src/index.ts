export { type CancelListener, onCancel } from './cancel-signal';
export { type Consumer, type ConsumerOptions, createConsumer } from './consumer';
export { createDoorbell, type DoorbellOptions } from './doorbell';
export { type Announcement, createQueues, type Queues, type QueuesOptions } from './queues';
export { createRateLimiter, type RateLimiter, type RateRequest, type RateVerdict } from './rate-limiter';
