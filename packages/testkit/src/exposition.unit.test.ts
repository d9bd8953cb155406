import { parseExposition } from './exposition';

const GOOD = `# HELP a_total Counts a.
# TYPE a_total counter
a_total{kind="x"} 1
a_total{kind="say \\"y\\""} 2
# HELP b_seconds Takes b.
# TYPE b_seconds histogram
b_seconds_bucket{le="1",kind="x"} 1
b_seconds_bucket{le="+Inf",kind="x"} 3
b_seconds_sum{kind="x"} 9.5
b_seconds_count{kind="x"} 3
`;

describe('parseExposition', () => {
  it('reads families, labels and values', () => {
    const read = parseExposition(GOOD);
    expect([...read.families.keys()]).toEqual(['a_total', 'b_seconds']);
    expect(read.value('a_total', { kind: 'x' })).toBe(1);
    expect(read.value('b_seconds_sum')).toBe(9.5);
    expect(read.value('a_total', { kind: 'z' })).toBeUndefined();
    expect(() => read.value('a_total')).toThrow('2 samples');
  });

  it.each([
    ['a family without HELP', '# TYPE a_total counter\na_total 1\n', 'no HELP'],
    ['a sample outside its family', `${GOOD}a_total{kind="z"} 1\n`, 'stray'],
    ['a family in two pieces', `${GOOD}# HELP a_total Counts a.\n# TYPE a_total counter\n`, 'twice'],
    ['the same sample twice', GOOD.replace('say \\"y\\"', 'x'), 'twice'],
    ['a counter without _total', GOOD.replaceAll('a_total', 'a'), '_total'],
    ['a gauge with _total', GOOD.replace('a_total counter', 'a_total gauge'), 'no counter'],
    ['an unknown type', GOOD.replace('histogram', 'histogramme'), 'no type'],
    ['buckets that fall', GOOD.replace('le="1",kind="x"} 1', 'le="1",kind="x"} 4'), 'falls'],
    ['a count that is not the last bucket', GOOD.replace('count{kind="x"} 3', 'count{kind="x"} 2'), 'bucket'],
    ['labels that are not quoted', GOOD.replace('kind="x"} 1', 'kind=x} 1'), 'malformed labels'],
    ['a value that is no number', GOOD.replace('9.5', 'nine'), 'no number'],
    ['a last line that does not end', GOOD.trimEnd(), 'does not end'],
  ])('refuses %s', (_, text, why) => {
    expect(() => parseExposition(text)).toThrow(why);
  });
});
