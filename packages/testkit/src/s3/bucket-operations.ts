import { type S3Operation } from './operation';

/** CreateBucket. An own bucket that already exists is not an error, as in S3's oldest region. */
export const createBucket: S3Operation = async ({ request, response, store }) => {
  await store.createBucket(request.bucket);
  response.writeHead(200, { location: `/${request.bucket}`, 'content-length': 0 }).end();
};

export const headBucket: S3Operation = async ({ request, response, store }) => {
  store.bucket(request.bucket);
  response.writeHead(200, { 'content-length': 0 }).end();
};
