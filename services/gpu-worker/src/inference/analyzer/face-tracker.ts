import { allEnded, type AnalyzerParams } from '@lipsync/engines';
import { type Box, type RgbPicture } from '@lipsync/kernels';
import { createCompany, type Look, SAME_FACE_OVERLAP } from './company';
import { type Detection, type FaceDetector } from './face-detector';
import { boxArea, boxPatch, facePatch, landmarkBounds, overlap } from './face-geometry';
import { type FindLandmarks } from './landmark-finder';
import { type News } from './shot-cuts';

/** What a picture shows of the faces of its shot. */
export interface Looks {
  /** The looks at those faces that were looked at, the main one first. */
  readonly looks: readonly Look[];
  /** Where the main face is, as far as the last look at it tells; null if that did not find it. */
  readonly main: Box | null;
}

/**
 * Follows the faces of a video. Must be called with every picture in order and with the second when it appears. A new shot
 * forgets the previous one's faces.
 */
type TrackFaces = (picture: RgbPicture, seconds: number, news: News) => Promise<Looks>;

/**
 * The main face skips a picture in which another one has its turn, if its last look is less than so many seconds old: every
 * third picture beside one or two others, at 25 or 30 a second. So two faces take no more looks than one.
 */
const SKIPS_WITHIN = 0.05;

/** The detector checks a followed face again after this many seconds. */
const CHECK_EVERY = 0.4;

/**
 * While following a face, the tracker looks for other people again after this many seconds. It would not recognize
 * somebody who walks if it missed more than a few steps, unless their landmarks are followed too. Noticing a newcomer can
 * wait, because most videos show a single face.
 */
const LOOK_AROUND_EVERY = { alone: 2, followed: 1.2, accompanied: 0.2 };

/**
 * Without a face, very large and very small ones are searched for only after this many seconds: this takes six times as
 * long.
 */
const THOROUGH_EVERY = 0.2;

/** The tracker waits this many seconds for a lost face. After that, whoever is there is the main face. */
const LONGEST_WAIT = 3;

/** Absorbs what floating point takes from a difference between two times. */
const ROUNDING = 1e-6;

/** A face with fewer pixels than this on a side reveals nothing, and patterns begin to look like faces. */
const SMALLEST_DETECTION = 12;

/** Landmarks from a detector's box, or of a fast head, are found again in the patch that they describe. */
const REFINEMENTS = 2;
const FAST_MOTION = 0.12;

interface Candidate {
  readonly points: Float32Array;
  /** Bounds of the landmarks. */
  readonly box: Box;
  /** The detector's box extends further. Bystanders are remembered by theirs. */
  readonly detected: Detection;
}

export function createFaceTracker(
  detector: FaceDetector,
  findLandmarks: FindLandmarks,
  params: AnalyzerParams,
): TrackFaces {
  const { landmarks, detector: detection } = params;
  const [glance = 0] = detection.inputSizes;
  let faces = 0;
  const company = createCompany(
    (picture, points) => findAgain(picture, points, true),
    () => faces++,
    LONGEST_WAIT,
  );
  let main = -1;
  let face: Float32Array | null = null;
  let lastBox: Box | null = null;
  /** Seconds of the last picture in which the main face was looked at, and of the one before. */
  let now = 0;
  let before = 0;
  let followedSince = 0;
  let searchedSince: number | null = null;

  /** Whether a multiple of so many seconds since then was reached after the picture before. */
  function isTime(every: number, since: number): boolean {
    const times = (seconds: number): number => Math.floor((seconds - since) / every + ROUNDING);
    return times(now) > times(before);
  }

  /** Landmarks found from where a face was a while ago may agree only in the patch that they describe themselves. */
  async function findAgain(
    picture: RgbPicture,
    previous: Float32Array,
    thoroughly = false,
  ): Promise<Float32Array | null> {
    const patch = facePatch(previous, landmarks.scale);
    let found = await findLandmarks(picture, patch);
    const moved = facePatch(found.points, landmarks.scale);
    const isFast = Math.hypot(moved.x - patch.x, moved.y - patch.y) > FAST_MOTION * patch.side;
    if (isFast || (thoroughly && !found.agree)) {
      found = await findLandmarks(picture, moved);
    }
    return found.agree ? found.points : null;
  }

  async function follow(picture: RgbPicture, previous: Float32Array): Promise<Float32Array | null> {
    const points = await findAgain(picture, previous);
    if (points === null) return null;
    return isTime(CHECK_EVERY, followedSince) && !(await showsFace(picture, points)) ? null : points;
  }

  async function showsFace(picture: RgbPicture, points: Float32Array): Promise<boolean> {
    const { scale, scoreThreshold } = detection.closeUp;
    return (await detector.closeUpScore(picture, facePatch(points, scale))) >= scoreThreshold;
  }

  async function lookAround(picture: RgbPicture, points: Float32Array): Promise<Look[]> {
    company.remember(now, await detector.detect(picture, glance), landmarkBounds(points));
    return company.meet(now, points, async (detected) => (await confirm(picture, detected))?.points ?? null);
  }

  /** Whether a face is clear from afar but so small that a closer look would blur it beyond recognition. */
  function needsNoCloseUp(points: Float32Array, score: number): boolean {
    const { inputSize, scale, sureScore } = detection.closeUp;
    return score >= sureScore && facePatch(points, scale).side < inputSize / 2;
  }

  /** The landmarks of a detected face, if a closer look confirms it. */
  async function confirm(picture: RgbPicture, detected: Detection): Promise<Candidate | null> {
    let found = await findLandmarks(picture, boxPatch(detected.box, landmarks.scale / detection.boxScale));
    for (let i = 0; i < REFINEMENTS; i++) {
      found = await findLandmarks(picture, facePatch(found.points, landmarks.scale));
    }
    const { points, agree } = found;
    const bounds = landmarkBounds(points);
    if (!agree || Math.min(bounds.x2 - bounds.x1, bounds.y2 - bounds.y1) < SMALLEST_DETECTION) return null;
    const isFace = needsNoCloseUp(points, detected.score) || (await showsFace(picture, points));
    return isFace ? { points, box: bounds, detected } : null;
  }

  async function search(picture: RgbPicture, since: number): Promise<Look[]> {
    const thorough = now === since || isTime(THOROUGH_EVERY, since);
    const waited = now - since >= LONGEST_WAIT - ROUNDING;
    // Enlarging beyond the picture's own pixels finds no more.
    const closest = Math.max(glance, picture.width, picture.height);
    const sizes = detection.inputSizes.filter((size, i) => i === 0 || (thorough && size <= closest));
    for (const size of sizes) {
      const candidates: Candidate[] = [];
      for (const detected of await detector.detect(picture, size)) {
        const candidate = await confirm(picture, detected);
        if (candidate !== null) candidates.push(candidate);
      }
      const seen = candidates.map(({ detected }) => detected);
      company.update(seen.map(({ box }) => box));
      const found = mainFace(candidates, waited);
      if (found === null) continue;
      face = found.points;
      main = company.take(face) ?? main;
      company.remember(now, seen, found.detected.box);
      return company.meet(
        now,
        face,
        async (detected) => candidates.find((candidate) => candidate.detected === detected)?.points ?? null,
      );
    }
    return [];
  }

  /**
   * The previously followed face if it is among them, otherwise the largest face that was not seen beside it; the
   * largest of all after the longest wait.
   */
  function mainFace(candidates: readonly Candidate[], waited: boolean): Candidate | null {
    const rank = ({ box, detected }: Candidate): number => {
      const beside = waited ? 0 : company.nearness(detected.box);
      const nearness = Math.max(beside, SAME_FACE_OVERLAP);
      // Somebody who walks past the main face reaches its old position, but their own last position is nearer still.
      if (lastBox !== null && overlap(box, lastBox) > nearness) return Infinity;
      return nearness > SAME_FACE_OVERLAP ? 0 : boxArea(box);
    };
    return candidates.reduce<Candidate | null>(
      (best, candidate) => (rank(candidate) > (best === null ? 0 : rank(best)) ? candidate : best),
      null,
    );
  }

  return async (picture, seconds, news) => {
    if (news.shot) {
      main = faces++;
      face = null;
      lastBox = null;
      searchedSince = null;
      company.forget();
    }
    const due = company.due(seconds);
    const maySkip = face !== null && !news.face && seconds - now < SKIPS_WITHIN - ROUNDING;
    if (due.length > 0 && maySkip)
      return { looks: await company.follow(picture, seconds, due, Promise.resolve(face)), main: lastBox };
    [before, now] = [now, seconds];
    const following = face === null ? Promise.resolve(null) : follow(picture, face);
    const [followed, others] = await allEnded([following, company.follow(picture, now, due, following)]);
    face = followed;
    if (face !== null) {
      const every = LOOK_AROUND_EVERY[company.kind()];
      if (isTime(every, followedSince)) others.push(...(await lookAround(picture, face)));
    } else {
      followedSince = now;
      searchedSince ??= now;
      others.push(...(await search(picture, searchedSince)));
    }
    if (face !== null) {
      lastBox = landmarkBounds(face);
      searchedSince = null;
    }
    // Whoever became the main face in this picture was looked at as another one before.
    const looks = [{ face: main, points: face }, ...others.filter((look) => look.face !== main)];
    return { looks, main: face && lastBox };
  };
}
