import { Worker } from 'bullmq';

/** A BullMQ worker that says when it last asked Redis for work and got an answer. */
export class ObservedWorker<Data> extends Worker<Data> {
  private answeredAt = Date.now();

  /** Milliseconds since the epoch. A worker whose slots are all busy does not ask. */
  lastAnswerAt(): number {
    return this.answeredAt;
  }

  protected override async moveToActive(
    ...args: Parameters<Worker<Data>['moveToActive']>
  ): ReturnType<Worker<Data>['moveToActive']> {
    const job = await super.moveToActive(...args);
    this.answeredAt = Date.now();
    return job;
  }
}
