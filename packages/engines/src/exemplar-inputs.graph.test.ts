import { type TensorSpec } from '@lipsync/model-pack';
import { type ClipInput } from './engine';
import { EXEMPLAR_INPUTS } from './exemplar-inputs';
import { type FaceTrack } from './face/face-track';
import { LANDMARK_VALUES } from './face/landmarks';
import { EXEMPLAR_BYTES, EXEMPLARS, type MouthExemplars } from './face/mouth-exemplars';
import { createHighsync } from './highsync/engine';
import { createLatentsync } from './latentsync/engine';
import { type RunModel } from './model';
import { createMusetalk } from './musetalk/engine';
import { type Manifest, manifestSchema, openPackFor } from './packs';
import { mouthOpening } from './sync';
import { clipInput, generate, type OpenClip, trackOf, upTo } from './test/clips';
import { writeHighsyncPack } from './test/highsync-pack';
import { writeLatentsyncPack } from './test/latentsync-pack';
import { writePassthroughPack } from './test/passthrough-pack';
import { type RecordedRun, recordRuns, type TestPacks, testPacks } from './test/test-sessions';

type Inputs = Readonly<Record<string, TensorSpec>>;

const BOTH: Inputs = {
  exemplars: { name: 'exemplars', dtype: 'uint8', dims: [EXEMPLARS, 3, 256, 256] },
  exemplar_landmarks: { name: 'exemplar_landmarks', dtype: 'float32', dims: [EXEMPLARS, 68, 2] },
};

/** By these a call says which faces it holds. */
const LANDMARKS: Inputs = { landmarks: { name: 'landmarks', dtype: 'float32', dims: ['batch', 68, 2] } };

/** A pack whose graphs know nothing of exemplars, and its engine. */
interface Subject {
  /** The role that may declare them. */
  readonly generator: string;
  readonly run: RunModel;
  /** The manifest with these inputs added to the generator's. */
  declaring(inputs: Inputs): Manifest;
  engine(
    inputs: Inputs,
    run: RunModel,
  ): { readonly wantsExemplars: boolean; open(clip: ClipInput): OpenClip };
}

const SUBJECTS: Readonly<Record<string, (packs: TestPacks) => Promise<Subject>>> = {
  async musetalk(packs) {
    await writePassthroughPack(packs.at('musetalk'));
    const pack = await openPackFor('musetalk', packs.at('musetalk'));
    const declaring = (inputs: Inputs) =>
      withInputs(pack.manifest, ({ roles }) => roles.unet, { ...LANDMARKS, ...inputs });
    return {
      generator: 'unet',
      run: takingOff(['landmarks'], await packs.load(pack)),
      declaring,
      engine: (inputs, run) => createMusetalk({ ...pack, manifest: declaring(inputs) }, run),
    };
  },
  async latentsync(packs) {
    const pack = await writeLatentsyncPack(packs.at('latentsync'));
    const declaring = (inputs: Inputs) => withInputs(pack.manifest, ({ roles }) => roles.unet3d, inputs);
    return {
      generator: 'unet3d',
      run: await packs.load(pack),
      declaring,
      engine: (inputs, run) => createLatentsync({ ...pack, manifest: declaring(inputs) }, run),
    };
  },
  async highsync(packs) {
    const pack = await writeHighsyncPack(packs.at('highsync'));
    const declaring = (inputs: Inputs) =>
      withInputs(pack.manifest, ({ roles }) => roles.denoising_unet, inputs);
    return {
      generator: 'denoising_unet',
      run: await packs.load(pack),
      declaring,
      engine: (inputs, run) => createHighsync({ ...pack, manifest: declaring(inputs) }, run),
    };
  },
};

function withInputs<M extends Manifest>(manifest: M, role: (m: M) => { inputs: object }, inputs: Inputs): M {
  const changed = structuredClone(manifest);
  Object.assign(role(changed).inputs, inputs);
  return changed;
}

const mouthsOf = (prime: number): MouthExemplars => ({
  pictures: Uint8Array.from({ length: EXEMPLARS * EXEMPLAR_BYTES }, (_, i) => i % prime),
  landmarks: Float32Array.from({ length: EXEMPLARS * 136 }, (_, i) => i / prime),
});
const [mouths, others] = [mouthsOf(251), mouthsOf(241)];

const FRAMES = 30;
const onePerson = trackOf(FRAMES);
/** From this frame on, in the middle of a batch or window, somebody else is shown, whose mouth is wide open. */
const CUT = 13;
/** The y of the points 65 to 67. */
const LOWER_INNER_LIP = [131, 133, 135];
const twoPeople: FaceTrack = {
  ...onePerson,
  cuts: onePerson.cuts.map((cut, frame) => (frame === CUT ? 1 : cut)),
  looks: onePerson.looks.map((_, frame) => (frame < CUT ? 0 : 1)),
  landmarks: onePerson.landmarks.map((value, i) =>
    i >= CUT * LANDMARK_VALUES && LOWER_INNER_LIP.includes(i % LANDMARK_VALUES) ? value + 8 : value,
  ),
};

describe.each(Object.keys(SUBJECTS))('%s', (name) => {
  let packs: TestPacks;
  let subject: Subject;
  beforeAll(async () => {
    packs = await testPacks();
    const open = SUBJECTS[name];
    if (!open) throw new Error(`there is no ${name}`);
    subject = await open(packs);
  });
  afterAll(() => packs.close());

  /** Renders one clip after another with one engine, as the pipeline does; yields the calls of each. */
  async function callsOf(
    inputs: Inputs,
    clips: readonly { readonly track: FaceTrack; readonly own?: readonly MouthExemplars[] }[],
  ): Promise<RecordedRun[][]> {
    const recorded = recordRuns(takingOff(EXEMPLAR_INPUTS, subject.run));
    const engine = subject.engine(inputs, recorded.run);
    const calls: RecordedRun[][] = [];
    for (const { track, own = [] } of clips) {
      const given = engine.wantsExemplars ? own : [];
      const clip = engine.open(clipInput(track, upTo(FRAMES), { mouths: given }).input);
      await generate(clip, upTo(FRAMES));
      await clip.close();
      calls.push(recorded.runs.splice(0));
    }
    return calls;
  }

  test('every call of a generator that declares them gets the exemplars, and no other graph does', async () => {
    const [calls = []] = await callsOf(BOTH, [{ track: onePerson, own: [mouths] }]);
    const told = calls.filter(({ role }) => role === subject.generator);
    expect(told.length).toBeGreaterThan(1);
    for (const { feeds } of told) {
      expect(feeds['exemplars']?.dims).toEqual(BOTH['exemplars']?.dims);
      expect(feeds['exemplar_landmarks']?.dims).toEqual(BOTH['exemplar_landmarks']?.dims);
      expect(Buffer.compare(bytesOf(feeds['exemplars']), mouths.pictures)).toBe(0);
      expect(feeds['exemplar_landmarks']?.data).toEqual(mouths.landmarks);
    }
    const otherCalls = calls.filter(({ role }) => role !== subject.generator);
    expect(otherCalls.flatMap(({ feeds }) => Object.keys(feeds)).filter(isExemplarInput)).toEqual([]);
  });

  test('every face is generated with the mouth of its own look, on either side of a cut', async () => {
    const [calls = []] = await callsOf(BOTH, [{ track: twoPeople, own: [mouths, others] }]);
    const worn = calls
      .filter(({ role }) => role === subject.generator)
      .flatMap(({ feeds }) => {
        const isOther = Buffer.compare(bytesOf(feeds['exemplars']), others.pictures) === 0;
        expect(feeds['exemplar_landmarks']?.data).toEqual((isOther ? others : mouths).landmarks);
        return facesOf(feeds['landmarks']).map((face) => ({ isOther, isOpen: mouthOpening(face) > 0.1 }));
      });
    expect(worn.filter(({ isOther, isOpen }) => isOther !== isOpen)).toEqual([]);
    expect(new Set(worn.map(({ isOther }) => isOther)).size).toBe(2);
  });

  test('a clip without exemplars feeds zeros, also after one that has some', async () => {
    const [, calls = []] = await callsOf(BOTH, [{ track: onePerson, own: [mouths] }, { track: onePerson }]);
    const told = calls.filter(({ role }) => role === subject.generator);
    expect(told.length).toBeGreaterThan(1);
    for (const { feeds } of told) {
      expect(bytesOf(feeds['exemplars'])).toHaveLength(EXEMPLARS * EXEMPLAR_BYTES);
      expect(bytesOf(feeds['exemplars']).every((level) => level === 0)).toBe(true);
      expect(feeds['exemplar_landmarks']?.data).toEqual(new Float32Array(EXEMPLARS * 136));
    }
  });

  test('a generator that does not declare them gets none, and no more calls for another look', async () => {
    const own = [mouths, others];
    const sameLook = { ...twoPeople, looks: onePerson.looks };
    const [calls = [], same] = await callsOf({}, [
      { track: twoPeople, own },
      { track: sameLook, own },
    ]);
    expect(calls.flatMap(({ feeds }) => Object.keys(feeds)).filter(isExemplarInput)).toEqual([]);
    expect(calls).toHaveLength(same?.length ?? NaN);
  });

  test('a manifest declares both, in their shapes, or neither', () => {
    const problems = (inputs: Inputs): string[] =>
      manifestSchema
        .safeParse(subject.declaring(inputs))
        .error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? [];
    const at = `roles.${subject.generator}.inputs`;
    const { exemplars, exemplar_landmarks } = BOTH;
    if (!exemplars || !exemplar_landmarks) throw new Error('two inputs are needed');
    expect(problems(BOTH)).toEqual([]);
    const half = [`${at}: exemplars and their landmarks are declared together`];
    expect(problems({ exemplars })).toEqual(half);
    expect(problems({ exemplar_landmarks })).toEqual(half);
    expect(problems({ ...BOTH, exemplars: { ...exemplars, dims: ['n', 3, 128, 128] } })).toEqual([
      `${at}.exemplars: is uint8 [n,3,128,128], the parameters ask for uint8 [8,3,256,256]`,
    ]);
    expect(problems({ ...BOTH, exemplars: { ...exemplars, dtype: 'float32' } })).toHaveLength(1);
  });
});

/** Detaches these feeds and gives them back, as a session does, and leaves the rest to the pack's graphs. */
function takingOff(keys: readonly string[], run: RunModel): RunModel {
  return async (role, feeds, take) => {
    const entries = Object.entries(feeds);
    const rest = Object.fromEntries(entries.filter(([key]) => !keys.includes(key)));
    const taken = Object.fromEntries(entries.filter(([key]) => keys.includes(key)));
    const moved = structuredClone(taken, { transfer: Object.values(taken).map(({ data }) => data.buffer) });
    const result = await run(role, rest, take);
    return { ...result, feeds: { ...result.feeds, ...moved } };
  };
}

/** Landmarks of the faces of a call, 136 values each. */
function facesOf(tensor: RecordedRun['feeds'][string] | undefined): Float32Array[] {
  if (tensor?.type !== 'float32') throw new TypeError('landmarks expected');
  const { data } = tensor;
  return upTo(data.length / LANDMARK_VALUES).map((face) =>
    data.subarray(face * LANDMARK_VALUES, (face + 1) * LANDMARK_VALUES),
  );
}

function isExemplarInput(key: string): boolean {
  return EXEMPLAR_INPUTS.some((input) => input === key);
}

function bytesOf(tensor: RecordedRun['feeds'][string] | undefined): Uint8Array {
  if (tensor?.type !== 'uint8') throw new TypeError('bytes expected');
  return tensor.data;
}
