import { judgeAnswer } from './requests';

const headers = new Headers({
  'content-type': 'application/json; charset=utf-8',
  'x-request-id': 'r',
  'cache-control': 'no-store',
});
const error = (code: string, message = 'The render does not exist.') =>
  JSON.stringify({ error: { code, message, retryable: code === 'internal_error' } });
const faultsOf = (status: number, text: string, leaked: string[] = []) =>
  judgeAnswer('get_render', { status, headers, text }, leaked).faults;

describe('the judge of fuzzed requests', () => {
  it('finds nothing wrong with a refusal of the contract', () => {
    expect(judgeAnswer('get_render', { status: 404, headers, text: error('render_not_found') }, [])).toEqual({
      outcome: 'render_not_found',
      faults: [],
    });
  });

  it.each<[string, number, string, string[]]>([
    ['a page of HTML', 502, '<html>', []],
    ['a status that its code does not have', 400, error('render_not_found'), []],
    ['a code of another operation', 409, error('upload_incomplete'), []],
    ['a success that conforms to no schema', 200, '{"id":"ren_1"}', []],
    ['a fault of the service', 503, error('internal_error'), []],
    [
      'an error with the words of a library',
      404,
      error('render_not_found', 'PrismaClientKnownRequestError'),
      [],
    ],
    ["another customer's id", 404, error('render_not_found'), ['ren_of_another']],
  ])('finds %s', (_, status, text, leaked) => {
    expect(faultsOf(status, text, leaked)).not.toEqual([]);
  });
});
