import { type EngineClip, type FaceBatch, type GeneratedFaces } from '@lipsync/engines';
import { type FaceObserver } from '../quality/quality-probe';
import { type StageClock } from '../stage-clock';
import { type AsyncQueue, createAsyncQueue, type Frame, type FramePool } from './frame-buffers';
import { type KeepFilmed } from './keep-filmed';

export interface RenderPass {
  readonly clip: EngineClip;
  /** Learns of every frame, in output order, when it is written; what it listens to may still be decoded. */
  readonly observer: Promise<FaceObserver>;
  readonly keepFilmed: KeepFilmed;
  readonly outputFrames: number;
  /**
   * Used by this pass only, with more buffers than a batch has faces. A pass that fails does not return all of them.
   */
  readonly pool: FramePool;
  /** Fills `frame` with the next picture, in output order. */
  readFrame(frame: Frame): Promise<void>;
  /** Takes the pictures in output order; `frame` may be reused once the promise has resolved. */
  writeFrame(frame: Frame): Promise<void>;
  /** Called after every written frame with the number written so far. */
  onWritten(frames: number): void;
  /** Stops between frames and batches; the pass then rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /** Called with the first failure; aborts `signal` with it, so that no work continues in vain. */
  giveUp(reason: unknown): void;
  readonly clock: StageClock;
}

/** Frames that travel through the engine together. */
interface Group {
  readonly batch: FaceBatch;
  /** Output index of its first face; undefined while it has none. */
  from: number | undefined;
  readonly faces: Promise<GeneratedFaces>;
  /** Number of faces of the group not yet put back. */
  open: number;
  resolve(faces: Promise<GeneratedFaces>): void;
  reject(reason: unknown): void;
}

/** A picture on its way to the encoder; one without a group passes unchanged. */
interface Traveling {
  readonly frame: Frame;
  readonly face?: { readonly group: Group; readonly slot: number; readonly outputIndex: number };
}

/** Batches inside the engine at once: one runs, one waits, so that the graphs never wait for this thread. */
const BATCHES_IN_FLIGHT = 2;
/** An incomplete batch is sent once this many batch lengths of frames have passed since its first face. */
const LONGEST_GROUP = 2;

/**
 * Streams a clip: read → take → infer → put → write, all overlapping, in memory that does not grow with the clip.
 * Frames without a face reach the encoder exactly as they were read. Resolves to the number of frames with a generated
 * face.
 */
export async function renderPass(pass: RenderPass): Promise<number> {
  const ordered = createAsyncQueue<Traveling>(pass.signal);
  const running = new Set<Promise<void>>();

  const failing = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      pass.giveUp(error);
      throw error;
    }
  };
  const feed = feedEngine(pass, ordered, running);
  const write = writeInOrder(pass, ordered.items());
  try {
    const [, faces] = await Promise.all([failing(feed), failing(write)]);
    return faces;
  } finally {
    // Whatever happened, nothing of this clip may still be inside the engine when the next one starts.
    await Promise.allSettled([feed, write, ...running]);
  }
}

async function feedEngine(
  pass: RenderPass,
  ordered: AsyncQueue<Traveling>,
  running: Set<Promise<void>>,
): Promise<void> {
  const { clip, clock, pool, signal } = pass;
  const longestGroup = Math.min(LONGEST_GROUP * clip.batchSize, pool.size);
  let group = newGroup(clip);

  const send = async (): Promise<void> => {
    while (running.size >= BATCHES_IN_FLIGHT) await Promise.race(running);
    signal.throwIfAborted();
    const inferring = group.batch.infer();
    group.resolve(inferring);
    const ended = settled(inferring).then(() => void running.delete(ended));
    running.add(ended);
    clock.sampleMemory();
    group = newGroup(clip);
  };

  try {
    for (let i = 0; i < pass.outputFrames; i++) {
      const frame = await pool.take(signal);
      await clock.during('decode', () => pass.readFrame(frame));
      if (group.from !== undefined && !group.batch.joins(i)) await send();
      const slot = clock.sync('crop', () => group.batch.take(frame, i));
      if (slot === null) {
        ordered.push({ frame });
      } else {
        group.from ??= i;
        group.open++;
        ordered.push({ frame, face: { group, slot, outputIndex: i } });
      }
      if (isDue(group, i, longestGroup)) await send();
    }
    if (group.from !== undefined) await send();
    ordered.end();
  } catch (error) {
    // The writer may be waiting for faces that will never be generated.
    group.reject(error);
    throw error;
  }
}

/** Every frame since the group's first face waits with it: without a limit, they would take all buffers. */
function isDue({ batch, from }: Group, lastFrame: number, longestGroup: number): boolean {
  if (from === undefined) return false;
  return batch.full || lastFrame - from + 1 >= longestGroup;
}

function newGroup(clip: EngineClip): Group {
  let resolve: Group['resolve'] = () => undefined;
  let reject: Group['reject'] = () => undefined;
  const faces = new Promise<GeneratedFaces>((onFaces, onFailure) => {
    resolve = onFaces;
    reject = onFailure;
  });
  void settled(faces);
  return { batch: clip.newBatch(), from: undefined, faces, open: 0, resolve, reject };
}

/** Resolves when `work` has ended either way; whoever needs the outcome awaits `work` itself. */
async function settled(work: Promise<unknown>): Promise<void> {
  await Promise.allSettled([work]);
}

async function writeInOrder(pass: RenderPass, frames: AsyncIterable<Traveling>): Promise<number> {
  const { clip, clock, pool } = pass;
  const observer = await pass.observer;
  let written = 0;
  let pasted = 0;
  // One write is in progress while the next face is put back.
  let writing: Promise<void> = Promise.resolve();

  for await (const { frame, face } of frames) {
    if (face) {
      observer.taken(clip.enlargement(face.outputIndex));
      const faces = await face.group.faces;
      clock.sync('paste', () => {
        observer.before(frame, face.outputIndex);
        pass.keepFilmed(frame, face.outputIndex, () => faces.put(face.slot, frame));
        observer.after(frame, face.outputIndex);
      });
      pasted++;
      if (--face.group.open === 0) faces.recycle();
    } else observer.passed();
    await clock.during('encode', () => writing);
    writing = pass.writeFrame(frame).then(() => {
      pool.giveBack(frame);
      pass.onWritten(++written);
    });
    void settled(writing);
  }
  await clock.during('encode', () => writing);
  return pasted;
}
