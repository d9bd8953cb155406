import { createLogger } from '@lipsync/runtime';
import { findVideoCodecs } from './find-video-codecs';

describe('the video codecs of a worker', () => {
});
