import { OPERATIONS } from '@lipsync/contract';
import { errorThrownBy } from '../../test/error-thrown-by';
import { createRouteTable } from './v1';

const route = createRouteTable(OPERATIONS);

describe('createRouteTable', () => {
  it.each(OPERATIONS.map((operation) => [operation.operationId, operation]))(
    'finds %s by its path',
    (_, operation) => {
      const path = operation.path.replace('{id}', 'some_id');
      const expected = { operation, id: operation.path.includes('{id}') ? 'some_id' : '' };
      expect(route(operation.method.toUpperCase(), path)).toEqual(expected);
      expect(route(operation.method.toUpperCase(), `${path}/`)).toEqual(expected);
    },
  );

  it('answers HEAD as GET', () => {
    expect(route('HEAD', '/v1/renders/x').operation.operationId).toBe('get_render');
  });

  it.each([
    ['/v1'],
    ['/v1/'],
    ['/v1/nothing'],
    ['/v1/uploads/upl_1'],
    ['/v1/Renders'],
    ['/v1/renders//'],
    ['/v1/renders/x/y'],
    ['/v1/renders/x/cancel/y'],
  ])('does not know %s, whatever the method', (path) => {
    for (const method of ['GET', 'POST', 'DELETE']) {
      expect(errorThrownBy(() => route(method, path)).code).toBe('not_found');
    }
  });

  it.each([
    ['GET', '/v1/renders', 'POST'],
    ['DELETE', '/v1/renders/unknown', 'GET, HEAD'],
    ['GET', '/v1/renders/x/cancel', 'POST'],
    ['HEAD', '/v1/assets', 'POST'],
    ['POST', '/v1/webhooks/x', 'GET, HEAD'],
    ['OPTIONS', '/v1/uploads', 'POST'],
  ])('refuses %s %s and lists the allowed methods', (method, path, allowed) => {
    const { code, headers } = errorThrownBy(() => route(method, path));
    expect({ code, headers }).toEqual({ code: 'method_not_allowed', headers: { Allow: allowed } });
  });

  it('decodes an id, and leaves one that cannot be decoded unchanged', () => {
    expect(route('GET', '/v1/renders/%72en_1').id).toBe('ren_1');
    expect(route('GET', '/v1/renders/%zz').id).toBe('%zz');
  });
});
