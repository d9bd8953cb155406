import { type S3Operation } from './operation';

/** DeleteObject. Deleting a missing object succeeds. */
export const deleteObject: S3Operation = async ({ request, response, store }) => {
  await store.bucket(request.bucket).remove(request.key);
  response.writeHead(204).end();
};
