import { type SessionOptions, type TensorSpec } from './session';
import { type SessionError, type Tensors } from '@lipsync/engines';

/** To the session thread. Every request gets one reply with the same id; requests are served in order. */
export type SessionRequest =
  | {
      readonly id: number;
      readonly type: 'open';
      readonly session: number;
      readonly file: string;
      readonly options: SessionOptions;
    }
  | {
      readonly id: number;
      readonly type: 'run';
      readonly session: number;
      readonly feeds: Tensors;
      readonly targets: Tensors;
    }
  | { readonly id: number; readonly type: 'release'; readonly session: number }
  | { readonly id: number; readonly type: 'close' };

/** From the session thread. `ms` is the time inside the runtime only. */
export type SessionReply =
  | {
      readonly id: number;
      readonly type: 'opened';
      readonly inputs: readonly TensorSpec[];
      readonly outputs: readonly TensorSpec[];
    }
  | {
      readonly id: number;
      readonly type: 'ran';
      readonly outputs: Tensors;
      readonly feeds: Tensors;
      readonly ms: number;
    }
  | { readonly id: number; readonly type: 'released' }
  | { readonly id: number; readonly type: 'closed' }
  | {
      readonly id: number;
      readonly type: 'failed';
      readonly reason: SessionError['reason'];
      readonly message: string;
      /** The feeds that were transferred for a run that failed. */
      readonly feeds?: Tensors;
      readonly targets?: Tensors;
    };

/**
 * The buffers to transfer with a message that carries `groups`. Each appears once, even if tensors share it
 * (transferring a buffer twice throws).
 */
export function buffersOf(...groups: readonly Tensors[]): ArrayBuffer[] {
  const buffers = new Set<ArrayBuffer>();
  for (const tensors of groups) for (const tensor of Object.values(tensors)) buffers.add(tensor.data.buffer);
  return [...buffers];
}
