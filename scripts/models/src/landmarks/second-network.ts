import { type FaceTrack, highsyncFaceBox, LANDMARK_VALUES } from '@lipsync/engines';
import { createPatchSampler, patchPoint, type RgbPicture } from '@lipsync/kernels';
import { type Binaries, openClipReader } from '@lipsync/media';
import { type InferenceSession } from 'onnxruntime-node';
import { onnxRuntime } from '../onnx-runtime';
import { type AnalyzedVideo, DEADLINE_MS } from '../workplace';

/** Side of the network's input, and how much larger than the face's box what it sees is. */
const SIDE = 160;
const SCALE = 1.4;

/**
 * The same faces by Peppa-Facial-Landmark's `slim` network (github.com/ainrichman/Peppa-Facial-Landmark-PyTorch): what it
 * finds in the box of the face of the clip's track, and then in that of its own points.
 */
export async function secondOpinion(
  binaries: Binaries,
  model: string,
  { file, video, track }: AnalyzedVideo,
): Promise<FaceTrack> {
  const { InferenceSession: Session } = await onnxRuntime();
  // Level 3: the network's file is of an old form, of which the runtime would warn for every constant.
  const session = await Session.create(model, { logSeverityLevel: 3 });
  const reader = openClipReader(binaries, file, video, {
    layout: { format: 'rgb24', width: track.width, height: track.height },
    deadlineMs: DEADLINE_MS,
  });
  const landmarks = new Float32Array(track.landmarks.length);
  const data = new Uint8Array(reader.frameBytes);
  try {
    for (let frame = 0; frame < track.frames && (await reader.readInto(data)); frame++) {
      if (track.found[frame] !== 1) continue;
      const at = frame * LANDMARK_VALUES;
      let points = track.landmarks.subarray(at, at + LANDMARK_VALUES);
      for (let pass = 0; pass < 2; pass++) points = await look(session, { ...reader, data }, points);
      landmarks.set(points, at);
    }
  } finally {
    await reader.close();
    await session.release();
  }
  return { ...track, analyzerVersion: model, landmarks };
}

const samplePatch = createPatchSampler();

async function look(
  session: InferenceSession,
  picture: RgbPicture,
  face: Float32Array,
): Promise<Float32Array> {
  const box = highsyncFaceBox(face);
  if (box === null) throw new RangeError('the face is too small');
  const side = SCALE * Math.max(box.x2 - box.x1, box.y2 - box.y1);
  const patch = { x: (box.x1 + box.x2) / 2, y: (box.y1 + box.y2) / 2, side, angle: 0 };
  const crop = { width: SIDE, height: SIDE, data: new Uint8Array(SIDE * SIDE * 3) };
  samplePatch(picture, patch, crop);
  const area = SIDE * SIDE;
  const bgr = Float32Array.from({ length: 3 * area }, (_, i) => {
    const level = crop.data[(i % area) * 3 + 2 - Math.floor(i / area)] ?? NaN;
    return (level - 127) / 127;
  });
  const { Tensor } = await onnxRuntime();
  const [name = ''] = session.inputNames;
  const outputs = await session.run({ [name]: new Tensor('float32', bgr, [1, 3, SIDE, SIDE]) });
  const values = outputs[session.outputNames[0] ?? '']?.data;
  if (!(values instanceof Float32Array)) throw new TypeError('the second network returned no points');
  return values.slice(0, LANDMARK_VALUES).map((value, i) => {
    const { x, y } = patchPoint(patch, value, value);
    return i % 2 === 0 ? x : y;
  });
}
